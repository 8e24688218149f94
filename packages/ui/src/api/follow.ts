import { followEvents, type LiveEvent } from "@millrace/client/live";
import { useEffect, useEffectEvent, useState } from "react";
import { origin } from "./client.ts";
import { pause } from "./pause.ts";

/** Whether live events flow. */
export type LiveLink = "connecting" | "open" | "away";

/**
 * Follows a live route while the page is in view: a browser opens few connections to one origin, so a hidden tab gives its own
 * back and reads anew when it is shown.
 */
export function useFollow(path: string | undefined, onEvent: (event: LiveEvent) => void): LiveLink {
  const [link, setLink] = useState<LiveLink>("connecting");
  const handle = useEffectEvent(onEvent);
  useEffect(() => {
    if (path === undefined) return;
    let current: AbortController | undefined;
    const begin = (): void => {
      if (document.visibilityState === "hidden" || current !== undefined) return;
      current = new AbortController();
      const { signal } = current;
      followEvents(origin, {
        path,
        signal,
        pause,
        onEvent: (event) => handle(event),
        onState: (state) => setLink(state === "open" ? "open" : "away"),
      }).catch(() => setLink("away"));
    };
    const end = (): void => {
      current?.abort();
      current = undefined;
    };
    const onVisibility = (): void => {
      if (document.visibilityState === "hidden") end();
      else begin();
    };
    begin();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      end();
    };
  }, [path]);
  return link;
}
