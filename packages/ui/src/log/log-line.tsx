import type { CSSProperties } from "react";
import { bytesText } from "../format/amounts.ts";
import { cssColour } from "./ansi-colour.ts";
import styles from "./log-line.module.css";
import type { DrawnLine } from "./screen.ts";
import type { TextStyle } from "./style-table.ts";

/** One line of a log with its colours. */
export function LogLine(props: { line: DrawnLine; styleOf: (id: number) => TextStyle }) {
  const { line } = props;
  return (
    <span className={styles.line}>
      {keyed(line.spans).map(({ key, span }) => (
        <span key={key} style={cssOf(props.styleOf(span.style))}>
          {span.text}
        </span>
      ))}
      {line.hiddenBytes > 0 ? (
        <span className={styles.hidden}> … {bytesText(line.hiddenBytes)} more in the download</span>
      ) : null}
      {"\n"}
    </span>
  );
}

/** Spans by the column they begin at. */
function keyed(spans: DrawnLine["spans"]): { key: number; span: DrawnLine["spans"][number] }[] {
  let column = 0;
  return spans.map((span) => {
    const key = column;
    column += span.text.length;
    return { key, span };
  });
}

function cssOf(style: TextStyle): CSSProperties | undefined {
  if (Object.keys(style).length === 0) return undefined;
  const foreground = style.foreground === undefined ? undefined : cssColour(style.foreground);
  const background = style.background === undefined ? undefined : cssColour(style.background);
  const decorations = [style.underline && "underline", style.strike && "line-through"]
    .filter(Boolean)
    .join(" ");
  return {
    color: style.inverse ? (background ?? "var(--surface)") : foreground,
    backgroundColor: style.inverse ? (foreground ?? "var(--text)") : background,
    fontWeight: style.bold ? 600 : undefined,
    fontStyle: style.italic ? "italic" : undefined,
    opacity: style.dim ? 0.7 : undefined,
    textDecoration: decorations === "" ? undefined : decorations,
  };
}
