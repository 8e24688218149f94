import { useEffect, useEffectEvent, useLayoutEffect } from "react";
import { readKey } from "./key-sequence.ts";

export interface Shortcut {
  /** One key, or two with a space between them. */
  readonly keys: string;
  /** What it does, as the help lists it. */
  readonly label: string;
  readonly run: () => void;
}

/** Shortcuts of what is on the page now; a later one takes the place of an earlier one with the same keys. */
const active = new Set<readonly Shortcut[]>();

/** Makes shortcuts work while the caller is on the page. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const run = useEffectEvent((keys: string) => shortcuts.find((each) => each.keys === keys)?.run());
  const signature = shortcuts.map((each) => `${each.keys}\t${each.label}`).join("\n");
  // Before the paint: whoever sees a page may press its keys.
  useLayoutEffect(() => {
    const registered = signature
      .split("\n")
      .filter((line) => line !== "")
      .map((line): Shortcut => {
        const [keys = "", label = ""] = line.split("\t");
        return { keys, label, run: () => run(keys) };
      });
    active.add(registered);
    return () => {
      active.delete(registered);
    };
  }, [signature]);
}

/** What works now, each pair of keys once. */
export function activeShortcuts(): Shortcut[] {
  return [...new Map([...active].flat().map((each) => [each.keys, each])).values()];
}

const pairPauseMs = 1_000;

/** Listens for keys on the whole page; once, in the shell. */
export function useShortcutKeys(): void {
  useEffect(() => {
    let pending = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const shortcuts = activeShortcuts();
      const meaning = readKey(pending, event.key, new Set(shortcuts.map((each) => each.keys)));
      pending = meaning.kind === "wait" ? meaning.pending : "";
      clearTimeout(timer);
      timer = setTimeout(() => {
        pending = "";
      }, pairPauseMs);
      if (meaning.kind !== "run") return;
      event.preventDefault();
      shortcuts.find((each) => each.keys === meaning.keys)?.run();
    };
    document.addEventListener("keydown", onKey);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("keydown", onKey);
    };
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
