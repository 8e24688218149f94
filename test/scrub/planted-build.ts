import type { PlantedSecret } from "@millrace/actors/scrub/secrets.fixture";
import { getRun, readStream } from "../model/corpus.ts";
import { decodeRequest, encodeRequest } from "../model/decode.ts";
import { largePlaces, places } from "./places.ts";

/**
 * Requests of a recorded build of a real Bazel with a secret planted in every place, before the build's end. `isLarge`:
 * also in an event of more than a megabyte.
 */
export function plantedRequests(
  secret: PlantedSecret,
  { isLarge, ...names }: { buildId: string; invocationId: string; isLarge: boolean },
): Buffer[] {
  const recorded = readStream(getRun("bazel7-test-bad"), 1).map(decodeRequest);
  const planted = [...places, ...(isLarge ? largePlaces : [])].flatMap((place) => place.plant(secret));
  // Behind the command lines and before the last results, as such events come.
  const at = Math.floor(recorded.length / 2);
  const events = recorded.map(({ event }) => event);
  events.splice(at, 0, ...planted);
  return events.map((event, index) =>
    encodeRequest({
      ...names,
      sequence: index + 1,
      projectId: "",
      keywords: index === 0 ? ["protocol_name=BEP", `user_keyword=${secret.text}`] : [],
      event,
    }),
  );
}
