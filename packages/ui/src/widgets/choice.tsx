import styles from "./choice.module.css";

export interface ChoiceOption<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly count?: number;
}

/** One of a few, as a row of buttons. */
export function Choice<T extends string>(props: {
  label: string;
  options: readonly ChoiceOption<T>[];
  value: T;
  onChange: (value: T) => void;
}) {
  return (
    <fieldset className={styles.choice}>
      <legend className="visually-hidden">{props.label}</legend>
      {props.options.map((option) => (
        <button
          key={option.value}
          type="button"
          className={styles.option}
          aria-pressed={option.value === props.value}
          onClick={() => props.onChange(option.value)}
        >
          {option.label}
          {option.count === undefined ? null : <span className={styles.count}>{option.count}</span>}
        </button>
      ))}
    </fieldset>
  );
}
