import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import buttonStyles from "../widgets/button.module.css";
import { MoonIcon, ScreenIcon, SunIcon } from "../widgets/icons.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { ProjectName } from "./project-name.tsx";
import styles from "./shell.module.css";
import { useShortcutKeys, useShortcuts } from "./shortcuts.ts";
import { type Theme, useTheme } from "./theme.ts";

/** What stands around every page. */
export function Shell() {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { project = "default" } = useParams({ strict: false });
  const navigate = useNavigate();
  useShortcutKeys();
  useShortcuts([
    {
      keys: "g b",
      label: "Go to the builds",
      run: () => void navigate({ to: "/p/$project", params: { project } }),
    },
    {
      keys: "g s",
      label: "Go to the signals",
      run: () => void navigate({ to: "/p/$project/signals", params: { project } }),
    },
    { keys: "/", label: "Filter", run: focusSearch },
    { keys: "?", label: "Show these keys", run: () => setHelpOpen(true) },
  ]);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <header className={styles.bar}>
        <Link to="/p/$project" params={{ project }} className={styles.brand} aria-label="Millrace: builds">
          <img src="/mark.svg" alt="" width="20" height="20" />
          <span>Millrace</span>
        </Link>
        <nav className={styles.pages} aria-label="Pages">
          <Link
            to="/p/$project"
            params={{ project }}
            className={styles.pageLink}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ "aria-current": "page" }}
          >
            Builds
          </Link>
          <Link
            to="/p/$project/signals"
            params={{ project }}
            className={styles.pageLink}
            activeOptions={{ includeSearch: false }}
            activeProps={{ "aria-current": "page" }}
          >
            Signals
          </Link>
        </nav>
        <ProjectName project={project} />
        <span className={styles.space} />
        <ThemeButton />
        <button
          type="button"
          className={`${buttonStyles.button} ${buttonStyles.bare}`}
          aria-label="Keys"
          title="Keys (?)"
          onClick={() => setHelpOpen(true)}
        >
          ?
        </button>
      </header>
      <div className={styles.content} id="content">
        <Outlet />
      </div>
      {isHelpOpen ? <HelpDialog onClose={() => setHelpOpen(false)} /> : null}
    </div>
  );
}

const nextTheme: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const themeWords: Readonly<Record<Theme, string>> = {
  system: "Colours of the system",
  light: "Light colours",
  dark: "Dark colours",
};
const themeIcons: Readonly<Record<Theme, () => React.ReactNode>> = {
  system: ScreenIcon,
  light: SunIcon,
  dark: MoonIcon,
};

function ThemeButton() {
  const [theme, setTheme] = useTheme();
  const Icon = themeIcons[theme];
  return (
    <button
      type="button"
      className={`${buttonStyles.button} ${buttonStyles.bare}`}
      aria-label={`${themeWords[theme]}; change`}
      title={themeWords[theme]}
      onClick={() => setTheme(nextTheme[theme])}
    >
      <Icon />
    </button>
  );
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("input[data-search]");
  field?.focus();
  field?.select();
}
