import { useEffect, useRef, useState } from "react";
import { CloseIcon, SearchIcon } from "./icons.tsx";
import styles from "./search-field.module.css";

const typingPauseMs = 200;

/** A text filter: what is typed is handed on after a short pause. `/` leads here. */
export function SearchField(props: { label: string; value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(props.value);
  const [known, setKnown] = useState(props.value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  if (known !== props.value) {
    // The address changed: Back, or a link.
    setKnown(props.value);
    setText(props.value);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (value: string, delayMs: number): void => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => props.onChange(value.trim()), delayMs);
  };
  return (
    <div className={styles.field}>
      <SearchIcon />
      <input
        type="search"
        data-search
        aria-label={props.label}
        placeholder={props.label}
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => change(event.currentTarget.value, typingPauseMs)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          if (text === "") event.currentTarget.blur();
          else change("", 0);
        }}
      />
      {text === "" ? null : (
        <button type="button" aria-label="Clear" className={styles.clear} onClick={() => change("", 0)}>
          <CloseIcon />
        </button>
      )}
    </div>
  );
}
