import { useState } from "react";

export type Theme = "system" | "light" | "dark";

const storageKey = "millrace.theme";

/** The chosen theme and how to choose another; the page's head applies it before the first paint. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  return [
    theme,
    (chosen) => {
      setTheme(chosen);
      if (chosen === "system") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = chosen;
      store(chosen);
    },
  ];
}

function storedTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === "light" || theme === "dark" ? theme : "system";
}

function store(theme: Theme): void {
  try {
    if (theme === "system") localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, theme);
  } catch {
    // A browser without storage forgets the choice.
  }
}
