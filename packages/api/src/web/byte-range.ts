/** What a request asks of `total` bytes; half-open. */
export type RangeRequest =
  | { readonly kind: "whole" }
  | { readonly kind: "part"; readonly from: number; readonly to: number }
  | { readonly kind: "unsatisfiable" };

const onePart = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/**
 * Reads an HTTP Range header (RFC 9110 §14). Several ranges, other units and malformed values ask for the
 * whole, as the RFC allows.
 */
export function parseRange(header: string | undefined, total: number): RangeRequest {
  const match = header === undefined ? null : onePart.exec(header.trim());
  if (match === null) return { kind: "whole" };
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), total);
    return length === 0 ? { kind: "unsatisfiable" } : { kind: "part", from: total - length, to: total };
  }
  const from = Number(first);
  if (last !== undefined && Number(last) < from) return { kind: "whole" };
  if (from >= total) return { kind: "unsatisfiable" };
  const to = last === undefined ? total : Math.min(Number(last) + 1, total);
  return { kind: "part", from, to };
}

/** The value of Content-Range for a part. */
export function contentRange(part: { from: number; to: number }, total: number): string {
  return `bytes ${part.from}-${part.to - 1}/${total}`;
}
