import type { ServiceDefinition } from "@grpc/grpc-js";

const bytesAsTheyAre = (bytes: Buffer): Buffer => bytes;
const service = "google.devtools.build.v1.PublishBuildEvent";

const identity = {
  requestSerialize: bytesAsTheyAre,
  requestDeserialize: bytesAsTheyAre,
  responseSerialize: bytesAsTheyAre,
  responseDeserialize: bytesAsTheyAre,
};

/** Name under which health and reflection know the service. */
export const besServiceName = service;

/** The Build Event Service with messages as bytes: what is in them is read where it is needed. */
export const besService = {
  PublishLifecycleEvent: {
    path: `/${service}/PublishLifecycleEvent`,
    requestStream: false,
    responseStream: false,
    ...identity,
  },
  PublishBuildToolEventStream: {
    path: `/${service}/PublishBuildToolEventStream`,
    requestStream: true,
    responseStream: true,
    ...identity,
  },
} satisfies ServiceDefinition;
