// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot hold rows that come and go with the scrolling
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { useShortcuts } from "../shell/shortcuts.ts";
import { useNarrow } from "../widgets/use-narrow.ts";
import styles from "./row-table.module.css";

const rowHeight = 36;
const narrowRowHeight = 44;
const overscanRows = 15;

export interface Column<T> {
  readonly name: string;
  /** A CSS grid track. */
  readonly track: string;
  readonly cell: (row: T) => ReactNode;
  readonly isRight?: boolean;
  /** Left out on a phone. */
  readonly isExtra?: boolean;
}

/** A table of any length: only rows in view are there, the next page is asked for near the end. */
export function RowTable<T>(props: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  selected: string | undefined;
  onSelect: (row: T | undefined) => void;
  onEnd: () => void;
  isComplete: boolean;
}) {
  const { columns, rows, onEnd, isComplete } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const height = useNarrow() ? narrowRowHeight : rowHeight;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: overscanRows,
  });
  useEffect(() => virtual.measure(), [virtual, height]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (!isComplete && last >= rows.length - overscanRows) onEnd();
  }, [last, rows.length, isComplete, onEnd]);
  useRowMoves({ ...props, showRow: (at) => virtual.scrollToIndex(at) });
  return (
    <div
      className={styles.table}
      role="table"
      aria-label={props.label}
      aria-rowcount={isComplete ? rows.length + 1 : -1}
      style={tracksOf(columns)}
    >
      <div className={styles.scroller} ref={scroller}>
        <div role="rowgroup" className={styles.head}>
          {/* biome-ignore lint/a11y/useFocusableInteractive: a heading is not operated */}
          <div role="row" className={styles.row} aria-rowindex={1}>
            {columns.map((column) => (
              <Cell key={column.name} column={column} isHead>
                {column.name}
              </Cell>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const key = props.keyOf(row);
            return (
              <TableRow
                key={key}
                row={row}
                columns={columns}
                index={item.index}
                top={item.start}
                isSelected={key === props.selected}
                onSelect={props.onSelect}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The grid's tracks, and those on a phone, which leaves some columns out. */
function tracksOf<T>(columns: readonly Column<T>[]): React.CSSProperties {
  const tracks = (shown: readonly Column<T>[]): string => shown.map((column) => column.track).join(" ");
  const narrow = columns.filter((column) => column.isExtra !== true);
  return { "--tracks": tracks(columns), "--narrow-tracks": tracks(narrow) } as React.CSSProperties;
}

/** Keys that go from row to row. */
function useRowMoves<T>(table: {
  rows: readonly T[];
  keyOf: (row: T) => string;
  selected: string | undefined;
  onSelect: (row: T | undefined) => void;
  showRow: (index: number) => void;
}): void {
  const { rows, keyOf, selected, onSelect, showRow } = table;
  const move = (step: number): void => {
    const at = rows.findIndex((row) => keyOf(row) === selected);
    const to = Math.min(Math.max(0, at + step), rows.length - 1);
    showRow(to);
    onSelect(rows[to]);
  };
  useShortcuts([
    { keys: "j", label: "Next row", run: () => move(1) },
    { keys: "k", label: "Row before", run: () => move(-1) },
    { keys: "Escape", label: "Close the details", run: () => onSelect(undefined) },
  ]);
}

function TableRow<T>(props: {
  row: T;
  columns: readonly Column<T>[];
  index: number;
  /** Pixels from the top of the whole table. */
  top: number;
  isSelected: boolean;
  onSelect: (row: T | undefined) => void;
}) {
  const { row, columns, index, top, isSelected, onSelect } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={0}
      className={`${styles.row} ${styles.item}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(isSelected ? undefined : row)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onSelect(row);
      }}
    >
      {columns.map((column) => (
        <Cell key={column.name} column={column}>
          {column.cell(row)}
        </Cell>
      ))}
    </div>
  );
}

function Cell<T>(props: { column: Column<T>; isHead?: boolean; children: ReactNode }) {
  const { column, isHead = false } = props;
  const classes = [
    styles.cell,
    column.isRight === true ? styles.right : "",
    column.isExtra === true ? styles.extra : "",
  ];
  return (
    <span role={isHead ? "columnheader" : "cell"} className={classes.join(" ")}>
      {props.children}
    </span>
  );
}
