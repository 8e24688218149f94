import { useEffect, useState } from "react";
import styles from "./button.module.css";
import { CheckIcon, CopyIcon } from "./icons.tsx";

const confirmMs = 1_500;

/** Copies a text and says so. */
export function CopyButton(props: { text: string; label: string; isBare?: boolean }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), confirmMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    void copyText(props.text).then(setCopied);
  };
  return (
    <button
      type="button"
      className={`${styles.button} ${props.isBare === true ? styles.bare : ""}`}
      onClick={copy}
      aria-label={props.isBare === true ? props.label : undefined}
      title={props.label}
    >
      {isCopied ? <CheckIcon /> : <CopyIcon />}
      {props.isBare === true ? null : <span>{isCopied ? "Copied" : props.label}</span>}
      <span className="visually-hidden" role="status">
        {isCopied ? "Copied" : ""}
      </span>
    </button>
  );
}

/** False when the browser does not let us: pages without TLS have no clipboard but on localhost. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}
