import { fileURLToPath } from "node:url";
import type { Server } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";

const interfaceFiles = new URL("../../../proto/proto/", import.meta.url);
const besFile = "google/devtools/build/v1/publish_build_event.proto";

/** Lets tools such as grpcurl ask the server what it serves. */
export function addReflection(server: Server): void {
  const definition = loadSync(besFile, { includeDirs: [fileURLToPath(interfaceFiles)], keepCase: true });
  new ReflectionService(definition).addToServer(server);
}
