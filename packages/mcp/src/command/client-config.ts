/** How the server is started by a client. */
export interface StartLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** Ready pieces of configuration for the common MCP clients. */
export function clientConfigs(start: StartLine): string {
  const entry = { command: start.command, args: start.args };
  const json = (value: unknown): string => JSON.stringify(value, null, 2);
  const shell = [start.command, ...start.args].map(quote).join(" ");
  const toml = `[mcp_servers.bazel]\ncommand = ${JSON.stringify(start.command)}\nargs = ${JSON.stringify(start.args)}\ntool_timeout_sec = 3600`;
  return [
    `# Claude Code\nclaude mcp add bazel -- ${shell}`,
    `# Claude Code (.mcp.json), Claude Desktop, Cursor (.cursor/mcp.json), Windsurf, Gemini CLI (settings.json)\n${json({ mcpServers: { bazel: entry } })}`,
    `# VS Code and GitHub Copilot (.vscode/mcp.json)\n${json({ servers: { bazel: { type: "stdio", ...entry } } })}`,
    `# Codex (~/.codex/config.toml)\n${toml}`,
    `# opencode (opencode.json)\n${json({ mcp: { bazel: { type: "local", command: [start.command, ...start.args], enabled: true } } })}`,
    `# Zed (settings.json)\n${json({ context_servers: { bazel: { source: "custom", ...entry } } })}`,
  ].join("\n\n");
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
