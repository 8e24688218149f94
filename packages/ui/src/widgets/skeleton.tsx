import styles from "./skeleton.module.css";

/** Rows of the final size while the real ones are on their way; invisible for the first 300 ms. */
export function SkeletonRows(props: { count: number; height: number }) {
  return (
    <div className={styles.rows} aria-hidden="true">
      {Array.from({ length: props.count }, (_, row) => (
        <div key={row} className={styles.row} style={{ height: props.height }}>
          <span className={styles.bar} style={{ width: `${30 + ((row * 37) % 45)}%` }} />
        </div>
      ))}
    </div>
  );
}
