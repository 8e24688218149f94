import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findOnPath } from "../../scripts/bootstrap/paths.mjs";
import { installDebianPackages } from "./debian-install.ts";
import { systemPath, type Tool } from "./tool.ts";
import { writeWrapper } from "./unpacked-wrapper.ts";

/** Chromium's own program: the script in /usr/bin reads settings of the person from all over the system. */
const program = "usr/lib/chromium/chromium";

/** A Chromium that runs headless, with a font so that text has a width. */
export async function findChromium(): Promise<Tool> {
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
    const present = findOnPath(name, systemPath);
    if (present !== undefined) return { kind: "found", path: present, env: { PATH: systemPath } };
  }
  const installed = await installDebianPackages({
    name: "chromium",
    packages: ["chromium", "fonts-dejavu-core"],
  });
  if (installed.kind === "failed") return { kind: "missing", why: installed.why };
  if (installed.kind === "unpacked") return unpacked(installed.root);
  return { kind: "found", path: join("/", program), env: { PATH: systemPath } };
}

/** Without root the unpacked libraries and fonts are named to it; its set-uid sandbox is out of reach. */
async function unpacked(root: string): Promise<Tool> {
  const fontsFile = join(root, "millrace-fonts.conf");
  await writeFile(
    fontsFile,
    `<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>\n` +
      `  <dir>/usr/share/fonts</dir>\n  <dir>${join(root, "usr/share/fonts")}</dir>\n` +
      `  <cachedir>${join(root, "font-cache")}</cachedir>\n</fontconfig>\n`,
  );
  const wrapper = await writeWrapper({
    root,
    name: "millrace-chromium",
    program: join(root, program),
    args: [],
    environment: { FONTCONFIG_FILE: fontsFile },
  });
  return { kind: "found", path: wrapper, env: { PATH: systemPath } };
}
