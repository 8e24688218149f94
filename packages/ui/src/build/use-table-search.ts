import { useNavigate } from "@tanstack/react-router";
import type { BuildSearch } from "../search.ts";

/** Changes what the address says about a table, without a step in the history for each letter typed. */
export function useTableSearch(): (more: BuildSearch) => void {
  const navigate = useNavigate();
  return (more) => {
    void navigate({ to: ".", search: (before) => ({ ...before, ...more }), replace: true });
  };
}
