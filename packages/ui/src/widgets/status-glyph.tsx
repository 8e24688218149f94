import type { Glyph, StatusLook } from "../status/status.ts";
import styles from "./status-glyph.module.css";

const shapes: Readonly<Record<Glyph, string>> = {
  check: "M4.2 8.4l2.6 2.6 5-5.6",
  cross: "M5 5l6 6M11 5l-6 6",
  wave: "M3.6 9.4c1.4-3 3-3 4.400-1s3 2 4.400-1",
  ring: "",
  dash: "M5 8h6",
  stop: "M5.800 5.800h4.400v4.400h-4.400z",
  break: "M4 8h2.200M9.800 8H12M7 10.400l2-4.800",
  clock: "M8 4.800V8l2.200 1.600",
  dot: "M8 8h.010",
  skip: "M5.200 5.200l3 2.800-3 2.800M10.600 5.200v5.600",
};

/**
 * A status as sign and colour; the word is read out. Where the word stands beside it, `isDecorative` keeps it from being said
 * twice.
 */
export function StatusGlyph(props: { look: StatusLook; size?: "small" | "large"; isDecorative?: boolean }) {
  const { look, size = "small", isDecorative = false } = props;
  const label = isDecorative ? { "aria-hidden": true as const } : { role: "img", "aria-label": look.word };
  return (
    <span className={`${styles.glyph} ${styles[look.tone]} ${styles[size]}`} title={look.word} {...label}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {look.glyph === "ring" ? (
          <>
            <circle className={styles.track} cx="8" cy="8" r="5.6" />
            <path className={styles.arc} d="M8 2.400a5.600 5.600 0 0 1 5.600 5.600" />
          </>
        ) : (
          <>
            <circle className={styles.disc} cx="8" cy="8" r="7" />
            <path d={shapes[look.glyph]} />
          </>
        )}
      </svg>
    </span>
  );
}
