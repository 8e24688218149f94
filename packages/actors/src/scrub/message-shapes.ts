/**
 * Where text is in an event: the fields of each message that hold text or further messages. A field that is not listed
 * is masked in place, its length unchanged, if it holds something that looks like a secret: see `opaque.ts`.
 */
export type FieldShape = "text" | "argument" | "flag-value" | MessageShape | (() => MessageShape);

/** What a field holds itself, once a recursive shape is resolved. */
export type Content = Exclude<FieldShape, () => MessageShape>;

export interface MessageShape {
  readonly fields: ReadonlyMap<number, FieldShape>;
  /** Numbers of the fields of a name and the value that it names. */
  readonly pair?: { readonly name: number; readonly value: number };
  /** `option`: a command_line.Option. `flag-policy`: a flag's name, and its values in sub-messages. */
  readonly special?: "option" | "flag-policy";
}

function message(fields: Readonly<Record<number, FieldShape>>, extra?: Partial<MessageShape>): MessageShape {
  return {
    fields: new Map(Object.entries(fields).map(([number, shape]) => [Number(number), shape])),
    ...extra,
  };
}

function texts(...numbers: readonly number[]): MessageShape {
  return message(Object.fromEntries(numbers.map((number) => [number, "text"])));
}

const nameAndValue = message({ 1: "text", 2: "text" }, { pair: { name: 1, value: 2 } });

// Sources of the numbers: build_event_stream.proto, command_line.proto, invocation_policy.proto.
const configurationId = texts(1);
const labelAndConfiguration = message({ 1: "text", 2: configurationId });
const eventId = message({
  1: texts(1),
  4: texts(1),
  5: message({ 1: "text", 2: "text", 3: configurationId }),
  6: message({ 1: "text", 2: "text", 3: configurationId }),
  7: labelAndConfiguration,
  8: message({ 1: "text", 5: configurationId }),
  10: texts(1),
  13: texts(1),
  15: configurationId,
  16: texts(1, 2),
  17: texts(1),
  18: texts(1),
  19: texts(1),
  21: labelAndConfiguration,
  26: labelAndConfiguration,
  29: labelAndConfiguration,
});

const file = texts(1, 2, 3, 4, 5, 7);
const failureDetail = texts(1);
const arguments_ = "argument";

const option = message({ 1: arguments_, 2: "text", 3: arguments_, 6: "text" }, { special: "option" });
const commandLine = message({
  1: "text",
  2: message({ 1: "text", 2: message({ 1: arguments_ }), 3: message({ 1: option }) }),
});

const flagValues = message({ 1: "flag-value", 3: "flag-value" });
const flagPolicy = message(
  { 1: "text", 2: "text", 3: flagValues, 5: flagValues, 6: flagValues, 7: "text" },
  { special: "flag-policy" },
);

const actionExecuted = message({
  3: file,
  4: file,
  5: "text",
  6: file,
  7: configurationId,
  8: "text",
  9: arguments_,
  11: failureDetail,
});
const targetComplete = message({
  2: message({ 1: "text", 3: texts(1), 5: file }),
  3: "text",
  4: file,
  5: "text",
  8: file,
  9: failureDetail,
});
const testResult = message({
  2: file,
  7: "text",
  8: message({ 2: "text", 3: "text", 4: timing, 5: texts(1) }),
  9: "text",
});

function timing(): MessageShape {
  return timingBreakdown;
}
const timingBreakdown: MessageShape = message({ 1: timing, 2: "text" });

const payloads: Readonly<Record<number, FieldShape>> = {
  3: texts(1, 2),
  4: texts(2),
  5: texts(1, 3, 4, 5, 6, 7, 10, 11),
  6: message({ 1: texts(1, 2) }),
  7: actionExecuted,
  8: targetComplete,
  9: message({ 3: file, 4: file }),
  10: testResult,
  12: message({ 1: arguments_ }),
  13: message({
    1: arguments_,
    2: arguments_,
    3: arguments_,
    4: arguments_,
    5: message({ 1: flagPolicy }),
    6: "text",
  }),
  14: message({ 3: texts(1), 6: failureDetail }),
  15: message({ 1: file, 2: texts(1) }),
  16: message({ 1: nameAndValue }),
  17: message({ 1: "text", 2: "text", 3: "text", 4: nameAndValue }),
  18: texts(1, 3),
  22: commandLine,
  23: message({ 1: file }),
  25: texts(1),
  26: message({ 1: nameAndValue }),
  27: message({ 1: texts(1, 3) }),
  29: message({ 1: "text", 2: arguments_, 3: nameAndValue, 4: "text" }),
  30: texts(1),
};

/** build_event_stream.BuildEvent */
export const bepShape: MessageShape = message({ 1: eventId, 2: eventId, ...payloads });

// google/devtools/build/v1/build_events.proto; the Any in 60 is looked into by its type.
const buildStatus = texts(3, 5);
export const anyField = 60;
export const anyTypeUrlField = 1;
export const anyValueField = 2;

/** google.devtools.build.v1.BuildEvent */
export const buildEventShape: MessageShape = message({
  52: message({ 3: buildStatus }),
  55: message({ 1: buildStatus }),
  56: texts(2, 3),
});

/** google.protobuf.Any around a build_event_stream.BuildEvent. */
export const bepAnyShape: MessageShape = message({ [anyTypeUrlField]: "text", [anyValueField]: bepShape });

/** Payloads whose names and values lie in different fields, or in different elements of a list. */
export const pairedPayloads: ReadonlySet<number> = new Set([7, 12, 13, 16, 17, 22, 26, 29]);
