/** A queue's configuration as the API set it. */
export interface StoredQueueConfig {
  readonly name: string;
  readonly config: unknown;
  /** Changes whenever the configuration does. */
  readonly stamp: string;
}

/** A queue with its configuration as it was given. */
export interface GivenQueueConfig {
  readonly name: string;
  readonly project: string;
  readonly config: unknown;
}

export type ConfigPut =
  | { readonly kind: "stored"; readonly version: number }
  /** Somebody else changed it; 0: it is not there. */
  | { readonly kind: "conflict"; readonly version: number }
  | { readonly kind: "of-file" }
  /** The queue's requests belong to a project, and a queue stays in it. */
  | { readonly kind: "other-project"; readonly project: string };

export type ConfigRemoval = "removed" | "missing" | "of-file" | "busy";

/** Configuration of queues that is kept in the database. */
export interface QueueConfigStore {
  /** Those that the API set. */
  list(): Promise<readonly StoredQueueConfig[]>;
  /** @param change.version the version that was read, 0 for none; undefined: whatever there is */
  put(change: GivenQueueConfig & { version: number | undefined }): Promise<ConfigPut>;
  /** A queue with requests under way is `busy` and stays. */
  remove(name: string): Promise<ConfigRemoval>;
  /** Writes down what the file says, for whoever shows queues. A queue of the file is no longer one of the API. */
  showFile(queues: readonly GivenQueueConfig[]): Promise<void>;
}
