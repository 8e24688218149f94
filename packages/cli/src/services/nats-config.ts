/** What one user of the server may do. Subjects come from `@millrace/proto/channels`, never from here. */
export interface NatsUser {
  readonly user: string;
  readonly password: string;
  readonly publish: NatsPermission;
  readonly subscribe: NatsPermission;
}

export interface NatsPermission {
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
}

export interface NatsServerConfig {
  /** On 127.0.0.1; −1 lets the server choose a free one. */
  readonly port: number;
  readonly storeDir: string;
  /** The server writes the ports it listens on into a file here. */
  readonly portsDir: string;
  readonly payloadBytesMax: number;
  /** Empty: everybody on this machine may do everything. */
  readonly users: readonly NatsUser[];
}

/**
 * The server's configuration file. NATS reads JSON. Everything in it is understood by server 2.9, the oldest we
 * support; an unknown key would keep the server from starting.
 */
export function natsConfigText(config: NatsServerConfig): string {
  const file = {
    server_name: "millrace",
    host: "127.0.0.1",
    port: config.port,
    ports_file_dir: config.portsDir,
    max_payload: config.payloadBytesMax,
    jetstream: { store_dir: config.storeDir },
    ...(config.users.length > 0 && { authorization: { users: config.users.map(userEntry) } }),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function userEntry(user: NatsUser): object {
  return {
    user: user.user,
    password: user.password,
    permissions: { publish: user.publish, subscribe: user.subscribe },
  };
}
