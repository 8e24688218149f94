/**
 * Which names stand for credentials. Names are compared without case and without `_`, `-` and `.` between their words, so
 * `API_KEY`, `api-key` and `apiKey` are one name.
 */

const credentialEnding = new RegExp(
  `(?:${[
    "token|secret|password|passwd|passphrase|passcode|credentials?|authorization|cookie|auth|jwt",
    "(?:api|access|private|secret|account|signing|encryption|auth|deploy|license|session|master)keys?",
    "(?:access|secret|api)keyid|sessionid",
  ].join("|")})$`,
);

// AUTH, but not AUTHOR and AUTHORITY; AUTHORIZATION all the same.
const credentialPart =
  /token|secret|passw|passphrase|passcode|apikey|accesskey|privatekey|credential|session|cookie|bearer|jwt|signature|auth(?!or(?!i[sz]))/;

/** Words that say it only as words of their own: GITHUB_PAT, but not PATH. */
const credentialWord = /(?:^|[_.-])(?:pat|pwd|cred|creds|dsn|otp|sas|sig)(?:$|[_.-])/;
const keyEnding = /(?:^|[_.-])key$/;
const passEnding = /_(?:pass|pw)$/;
const endingWord = /(?:^|[_.-])(?:pat|pwd)$/;

// The shell's working directories; a desktop's session, which is no login.
const harmless =
  /^-*(?:(?:old)?pwd|xdg_session_[a-z]+|dbus_session_bus_address|desktop_session|session_manager)$/;

const queryNames = /^(?:x-amz-|x-goog-)?(?:sig|signature|key)$/;
const wholeLineHeaders = /(?:authorization|cookie)$/;

/** What a name says about the value behind it. */
export interface NameJudgement {
  /** It ends in a credential's name: `next_token=` in any text. */
  readonly ends: boolean;
  /** Some part of it is a credential's name: enough for environment variables, whose names are chosen to say it. */
  readonly contains: boolean;
  /** Like `SOME_NAME`: an environment variable. */
  readonly environmentStyle: boolean;
  /** Only as a parameter of a URL. */
  readonly queryOnly: boolean;
  /** An HTTP header whose value is the whole line. */
  readonly wholeLine: boolean;
}

// The same few hundred names come in every build; judging one costs about a microsecond.
const judged = new Map<string, NameJudgement>();
const judgedMax = 4096;

/** Judges a name of at most some hundred characters. */
export function judgeName(name: string): NameJudgement {
  let judgement = judged.get(name);
  if (judgement === undefined) {
    if (judged.size >= judgedMax) judged.clear();
    judgement = judge(name);
    judged.set(name, judgement);
  }
  return judgement;
}

function judge(name: string): NameJudgement {
  const lower = name.toLowerCase();
  const compact = lower.replaceAll(/[_.-]/g, "");
  const exempt = harmless.test(lower);
  return {
    ends: !exempt && (credentialEnding.test(compact) || endingWord.test(lower)),
    contains:
      !exempt &&
      (credentialPart.test(compact) ||
        [credentialWord, keyEnding, passEnding].some((pattern) => pattern.test(lower))),
    environmentStyle: /^[A-Z][A-Z0-9_]*$/.test(name),
    queryOnly: queryNames.test(lower),
    wholeLine: wholeLineHeaders.test(compact),
  };
}
