import { ApiProblem } from "@millrace/client/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { whereQuery } from "../api/queries.ts";
import { Failure, Note } from "../widgets/note.tsx";

const route = getRouteApi("/i/$invocationId");

/** Bazel prints its link before it sends the first event. */
const askAgainMs = 2_000;

/** Leads to the project of a build; waits for one that has not arrived yet. */
export function ResolvePage() {
  const { invocationId } = route.useParams();
  const { data, error, refetch } = useQuery({
    ...whereQuery(invocationId),
    retry: false,
    refetchInterval: (query) => (query.state.data === undefined ? askAgainMs : false),
  });
  const project = data?.projects[0];
  if (project !== undefined) {
    return <Navigate to="/p/$project/i/$invocationId" params={{ project, invocationId }} replace />;
  }
  if (error === null) return null;
  if (!(error instanceof ApiProblem) || error.status !== 404) {
    return <Failure error={error} retry={() => void refetch()} />;
  }
  return (
    <Note title="Waiting for this build">
      <p role="status">
        Nothing of it is stored yet. It appears here by itself; if it was sent long ago, it is in another
        Millrace or you may not see it.
      </p>
    </Note>
  );
}
