import type { Invocation } from "@millrace/client/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { invocationQuery } from "../api/queries.ts";

const route = getRouteApi("/p/$project/i/$invocationId");

/** The invocation that the address names, at the attempt it names. */
export function useInvocationQuery() {
  const { project, invocationId } = route.useParams();
  const { attempt } = route.useSearch();
  return useQuery(invocationQuery({ project, invocationId, attempt }));
}

/** The same for the tabs, which are shown only when it is there. */
export function useShownInvocation(): Invocation {
  const { data } = useInvocationQuery();
  if (data === undefined) throw new Error("a tab is shown without its invocation");
  return data;
}
