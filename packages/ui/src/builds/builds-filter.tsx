import { useNavigate } from "@tanstack/react-router";
import type { BuildsSearch } from "../search.ts";
import { Choice } from "../widgets/choice.tsx";
import { SearchField } from "../widgets/search-field.tsx";
import styles from "./builds-page.module.css";

const statuses = [
  { value: "", label: "All" },
  { value: "running", label: "Running" },
  { value: "failed,aborted", label: "Failed" },
  { value: "succeeded", label: "Passed" },
  { value: "interrupted,disconnected", label: "Cut short" },
];

const commands = ["build", "test", "run", "coverage", "query", "cquery", "aquery", "fetch", "info"];

/** What restricts the list; all of it is in the address. */
export function BuildsFilter(props: { project: string; search: BuildsSearch }) {
  const { project, search } = props;
  const navigate = useNavigate();
  const change = (more: BuildsSearch): void => {
    void navigate({ to: "/p/$project", params: { project }, search: { ...search, ...more }, replace: true });
  };
  return (
    <search className={styles.filter}>
      <div className={styles.statuses}>
        <Choice
          label="Status"
          options={statuses}
          value={search.status ?? ""}
          onChange={(status) => change({ status })}
        />
      </div>
      <select
        className={styles.select}
        aria-label="Command"
        value={search.command ?? ""}
        onChange={(event) => change({ command: event.currentTarget.value })}
      >
        <option value="">Any command</option>
        {commands.map((command) => (
          <option key={command} value={command}>
            {command}
          </option>
        ))}
      </select>
      <SearchField label="User" value={search.user ?? ""} onChange={(user) => change({ user })} />
    </search>
  );
}
