import type { Build } from "@millrace/client/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { countOf } from "../format/amounts.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { useNarrow } from "../widgets/use-narrow.ts";
import styles from "./build-list.module.css";
import { BuildRow, narrowRowHeight, rowHeight } from "./build-row.tsx";

const overscanRows = 12;
/** More at once are no news but another list. */
const freshMax = 20;

/**
 * The builds, newest first, however many. What arrives while the reader has scrolled moves nothing: a button on top says how many
 * there are and leads to them.
 */
export function BuildList(props: { builds: readonly Build[]; onEnd: () => void; isComplete: boolean }) {
  const { builds } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow();
  const height = isNarrow ? narrowRowHeight : rowHeight;
  const rows = useVirtualizer({
    count: builds.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: overscanRows,
    getItemKey: (index) => builds[index]?.invocationId ?? index,
  });
  useEffect(() => rows.measure(), [rows, height]);
  const unread = useAnchor(builds, { scroller, height });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const { onEnd, isComplete } = props;
  useEffect(() => {
    if (!isComplete && last >= builds.length - overscanRows) onEnd();
  }, [last, builds.length, isComplete, onEnd]);
  useRowKeys(builds.length, (index) => rows.scrollToIndex(index), scroller);
  return (
    <div className={styles.scroller} ref={scroller}>
      {unread.count > 0 ? (
        <button type="button" className={styles.unread} onClick={unread.show}>
          {countOf(unread.count, "new build")}
        </button>
      ) : null}
      <ol className={styles.rows} style={{ height: rows.getTotalSize() }} aria-label="Builds">
        {items.map((item) => {
          const build = builds[item.index];
          if (build === undefined) return null;
          return (
            <li
              key={item.key}
              className={`${styles.item} ${unread.isFresh(build.invocationId) ? styles.fresh : ""}`}
              data-index={item.index}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <BuildRow build={build} />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Keeps what the reader looks at where it is, and counts what was added above it. */
function useAnchor(
  builds: readonly Build[],
  at: { scroller: React.RefObject<HTMLDivElement | null>; height: number },
): { count: number; isFresh: (invocationId: string) => boolean; show: () => void } {
  const first = useRef<string>(undefined);
  const [count, setCount] = useState(0);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const { scroller, height } = at;
  useLayoutEffect(() => {
    const element = scroller.current;
    const added = builds.findIndex((build) => build.invocationId === first.current);
    first.current = builds[0]?.invocationId;
    if (element === null || added <= 0 || added > freshMax) return;
    setFresh(new Set(builds.slice(0, added).map((build) => build.invocationId)));
    if (element.scrollTop <= 0) return;
    element.scrollTop += added * height;
    setCount((before) => before + added);
  }, [builds, scroller, height]);
  useEffect(() => {
    const element = scroller.current;
    const onScroll = (): void => {
      if (element !== null && element.scrollTop <= 0) setCount(0);
    };
    element?.addEventListener("scroll", onScroll, { passive: true });
    return () => element?.removeEventListener("scroll", onScroll);
  }, [scroller]);
  return {
    count,
    isFresh: (id) => fresh.has(id),
    show: () => scroller.current?.scrollTo({ top: 0, behavior: "smooth" }),
  };
}

/** `j` and `k` move the focus from row to row; Enter opens one as any link. */
function useRowKeys(
  count: number,
  scrollTo: (index: number) => void,
  scroller: React.RefObject<HTMLDivElement | null>,
): void {
  const move = (step: number): void => {
    const focused = document.activeElement?.closest("[data-index]")?.getAttribute("data-index");
    const from = focused === null || focused === undefined ? (step > 0 ? -1 : count) : Number(focused);
    const to = Math.min(Math.max(0, from + step), count - 1);
    scrollTo(to);
    requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>(`[data-index="${to}"] [data-row]`)?.focus();
    });
  };
  useShortcuts([
    { keys: "j", label: "Next row", run: () => move(1) },
    { keys: "k", label: "Row before", run: () => move(-1) },
  ]);
}
