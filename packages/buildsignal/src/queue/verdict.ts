import { errorCode, isNetworkCode, MillraceError } from "@millrace/base/errors";

/**
 * What a failure means for a delivery. Only the two `…-retryable` verdicts are tried again; `unknown`, the verdict
 * about what nobody recognises, is not: it dead-letters, and the reconciler fails the request closed.
 */
export type Verdict =
  | "unknown"
  | "user"
  | "infra"
  | "infra-retryable"
  | "dependency"
  | "dependency-retryable";

/** Judges one error alone, not its causes. */
export type Classifier = (node: unknown) => Verdict;

/**
 * An error that has been classified already, anywhere in the chain of causes, keeps its remedy. Otherwise each error
 * is shown to the classifiers in order, from the outermost inwards; the first verdict wins.
 */
export function judge(error: unknown, classifiers: readonly Classifier[] = usualClassifiers): Verdict {
  const chain = causesOf(error);
  const classified = chain.find((node) => node instanceof MillraceError);
  if (classified !== undefined) return classified.remedy === "retry" ? "infra-retryable" : "infra";
  for (const node of chain) {
    for (const classify of classifiers) {
      const verdict = classify(node);
      if (verdict !== "unknown") return verdict;
    }
  }
  return "unknown";
}

export function isRetryable(verdict: Verdict): boolean {
  return verdict === "infra-retryable" || verdict === "dependency-retryable";
}

/** A cancellation: the process stops, or a handler took too long. */
export const classifyCancellation: Classifier = (node) =>
  node instanceof Error && node.name === "AbortError" ? "infra-retryable" : "unknown";

/** An error of an HTTP client that carries the response's status. */
export const classifyHttp: Classifier = (node) => {
  if (typeof node !== "object" || node === null || !("status" in node)) return "unknown";
  const status = node.status;
  if (typeof status !== "number" || status < 300 || status > 599) return "unknown";
  return status >= 500 || status === 408 || status === 429 ? "dependency-retryable" : "dependency";
};

/** The network's own failures: reset, refused, DNS, a deadline of the HTTP client, a broken TLS connection. */
export const classifyTransport: Classifier = (node) => {
  const code = errorCode(node);
  const isTransport = isNetworkCode(code) || /^(UND_ERR_|ERR_TLS_|ERR_SSL_|CERT_)/.test(code);
  if (isTransport || (node instanceof Error && node.name === "TimeoutError")) return "dependency-retryable";
  return "unknown";
};

const usualClassifiers: readonly Classifier[] = [classifyCancellation, classifyHttp, classifyTransport];

/** The chain of causes, outermost first; one that bites its own tail ends there. */
function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (
    let node = error;
    node !== undefined && node !== null && !chain.includes(node);
    node = node instanceof Error ? node.cause : undefined
  ) {
    chain.push(node);
  }
  return chain;
}
