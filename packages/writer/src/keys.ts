import { keyScopes } from "@millrace/db/api-keys";
import type { IKeyLookupReply, IKeyLookupRequest } from "@millrace/proto/pipeline";

export interface StoredKey {
  readonly project: string;
  readonly scopes: readonly string[];
  readonly openStreamsMax: number;
  readonly eventsPerSecondMax: number;
  readonly bytesPerSecondMax: number;
}

export interface KeyStore {
  /** A key that is neither expired nor revoked. */
  find(sha256: Uint8Array): Promise<StoredKey | undefined>;
  /** Authenticates event 1 of every stream; the same for all nodes, for ever. */
  serverSecret(): Promise<Uint8Array>;
}

/**
 * Whose key it is. In open mode no key is needed: without one, and with one that nobody knows, everything lands in
 * the project `default`, with all scopes.
 */
export async function lookUpKey(
  request: IKeyLookupRequest,
  from: { keys: KeyStore; openMode: boolean; openProject: string },
): Promise<IKeyLookupReply> {
  const sha256 = request.keySha256 ?? new Uint8Array(0);
  const [key, serverSecret] = await Promise.all([
    sha256.length === 0 ? undefined : from.keys.find(sha256),
    from.keys.serverSecret(),
  ]);
  if (key !== undefined) {
    return {
      known: true,
      project: key.project,
      scopes: [...key.scopes],
      serverSecret,
      limits: {
        openStreams: key.openStreamsMax,
        eventsPerSecond: key.eventsPerSecondMax,
        bytesPerSecond: key.bytesPerSecondMax,
      },
    };
  }
  if (!from.openMode) return { known: false };
  return { known: true, project: from.openProject, scopes: [...keyScopes], serverSecret, limits: {} };
}
