import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { projectsQuery } from "../api/queries.ts";
import styles from "./shell.module.css";

/** Which project this is; with several, a way to another. */
export function ProjectName(props: { project: string }) {
  const projects = useQuery(projectsQuery).data?.projects ?? [];
  const navigate = useNavigate();
  if (projects.length < 2) return null;
  return (
    <select
      className={styles.project}
      aria-label="Project"
      value={props.project}
      onChange={(event) =>
        void navigate({ to: "/p/$project", params: { project: event.currentTarget.value } })
      }
    >
      {projects.map((project) => (
        <option key={project.id} value={project.id}>
          {project.name}
        </option>
      ))}
    </select>
  );
}
