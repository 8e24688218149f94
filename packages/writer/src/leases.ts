import { MillraceError } from "@millrace/base/errors";
import type { ILeaseReply, ILeaseRequest } from "@millrace/proto/pipeline";

export interface NodeStore {
  /** The node's lease lasts for so long from now, by the database's clock. */
  renew(node: string, seconds: number): Promise<void>;
}

/** Three renewals of a front door, which come every 10 s. */
const leaseSeconds = 30;

/** A front door says that it lives, or that it leaves: then its streams may be swept at once. */
export async function renewLease(request: ILeaseRequest, nodes: NodeStore): Promise<ILeaseReply> {
  if (!request.node) {
    throw new MillraceError({ remedy: "reject", code: "malformed-request", message: "a lease has no node" });
  }
  await nodes.renew(request.node, request.leaving ? 0 : leaseSeconds);
  return {};
}
