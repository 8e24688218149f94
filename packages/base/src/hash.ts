/**
 * 32-bit FNV-1a over the UTF-8 of `text`, finished with murmur3's mixer so that the low bits are usable.
 * It routes: the same key must give the same number in every process and version, for ever.
 */
export function routingHash(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const encoder = new TextEncoder();

/** The owner of `key` among `nodes` by rendezvous hashing: when a node leaves, only its keys move. */
export function rendezvous(nodes: readonly string[], key: string): string | undefined {
  let best: string | undefined;
  let bestScore = -1;
  for (const node of nodes) {
    const score = routingHash(`${node}\u0000${key}`);
    if (score > bestScore || (score === bestScore && best !== undefined && node < best)) {
      best = node;
      bestScore = score;
    }
  }
  return best;
}
