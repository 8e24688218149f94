import { QueryClient } from "@tanstack/react-query";
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { projectsQuery } from "./api/queries.ts";
import { readBuildSearch, readBuildsSearch } from "./search.ts";
import { Shell } from "./shell/shell.tsx";
import { readSignalsSearch } from "./signals/signals-search.ts";
import { Failure, Note } from "./widgets/note.tsx";

export const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: 10_000, retry: 1, refetchOnWindowFocus: true } },
});

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Note title="There is no such page" />,
});

/** The first page is the default project's, or the only one a viewer may see. */
const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  loader: async () => {
    const { projects } = await queries.ensureQueryData(projectsQuery);
    const project = projects.find((each) => each.id === "default") ?? projects[0];
    if (project !== undefined) throw redirect({ to: "/p/$project", params: { project: project.id } });
  },
  component: () => <Note title="There is no project that you may see" />,
  errorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
});

/** Where Bazel's own link leads: it knows only the id. */
const resolve = createRoute({
  getParentRoute: () => root,
  path: "/i/$invocationId",
  component: lazyRouteComponent(() => import("./build/resolve-page.tsx"), "ResolvePage"),
});

export const buildsRoute = createRoute({
  getParentRoute: () => root,
  path: "/p/$project",
  validateSearch: readBuildsSearch,
  component: lazyRouteComponent(() => import("./builds/builds-page.tsx"), "BuildsPage"),
});

const signalsRoute = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/signals",
  validateSearch: readSignalsSearch,
  component: lazyRouteComponent(() => import("./signals/signals-page.tsx"), "SignalsPage"),
});

export const buildRoute = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/i/$invocationId",
  validateSearch: readBuildSearch,
  component: lazyRouteComponent(() => import("./build/build-page.tsx"), "BuildPage"),
});

const tabs = [
  createRoute({
    getParentRoute: () => buildRoute,
    path: "/",
    component: lazyRouteComponent(() => import("./build/overview-tab.tsx"), "OverviewTab"),
  }),
  createRoute({
    getParentRoute: () => buildRoute,
    path: "/log",
    component: lazyRouteComponent(() => import("./log/log-tab.tsx"), "LogTab"),
  }),
  createRoute({
    getParentRoute: () => buildRoute,
    path: "/targets",
    component: lazyRouteComponent(() => import("./build/targets-tab.tsx"), "TargetsTab"),
  }),
  createRoute({
    getParentRoute: () => buildRoute,
    path: "/tests",
    component: lazyRouteComponent(() => import("./build/tests-tab.tsx"), "TestsTab"),
  }),
  createRoute({
    getParentRoute: () => buildRoute,
    path: "/details",
    component: lazyRouteComponent(() => import("./build/details-tab.tsx"), "DetailsTab"),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([home, resolve, buildsRoute, signalsRoute, buildRoute.addChildren(tabs)]),
  defaultPreload: "intent",
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries(search)) {
      if (value !== undefined && value !== "") parameters.set(key, String(value));
    }
    const text = parameters.toString().replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3A", ":");
    return text === "" ? "" : `?${text}`;
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
