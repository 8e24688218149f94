import type { z } from "zod";
import type { HttpService } from "./http-service.ts";

/** Of one process: as many as builds that it polls. */
const keptMax = 10_000;

/**
 * Reads what changes seldom from a service that gives entity tags: what has not changed is answered with 304, which
 * GitHub does not count against its limit of requests.
 */
export class ConditionalReads<T> {
  private readonly service: HttpService;
  private readonly shape: z.ZodType<T>;
  private readonly kept = new Map<string, { readonly etag: string; readonly value: T }>();

  constructor(service: HttpService, shape: z.ZodType<T>) {
    this.service = service;
    this.shape = shape;
  }

  async read(path: string, signal: AbortSignal): Promise<{ value: T; waitMs: number | undefined }> {
    const known = this.kept.get(path);
    const answer = await this.service.ask({
      call: "status",
      method: "GET",
      path,
      signal,
      ...(known === undefined ? {} : { headers: { "if-none-match": known.etag }, accept: [304] }),
    });
    const { waitMs } = answer;
    if (known !== undefined && answer.status === 304) return { value: known.value, waitMs };
    const value = answer.read(this.shape);
    this.keep(path, { etag: answer.headers.get("etag") ?? "", value });
    return { value, waitMs };
  }

  private keep(path: string, what: { etag: string; value: T }): void {
    this.kept.delete(path);
    if (what.etag !== "") this.kept.set(path, what);
    const [oldest] = this.kept.keys();
    if (this.kept.size > keptMax && oldest !== undefined) this.kept.delete(oldest);
  }
}
