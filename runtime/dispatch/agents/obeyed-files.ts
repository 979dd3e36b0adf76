/**
 * Finds files that programs execute or obey without being told to: settings of repositories, agents, editors and shells. In a
 * kept work folder, a run could leave them for the next run, or for the operator who opens the folder. docs/agents.md lists them.
 */
import { chmod, readdir } from 'node:fs/promises';
import { codeOf } from '../../../base/errors.ts';

/** Names at any depth, in lower case, because some file systems ignore case. */
export const OBEYED_NAMES: ReadonlySet<string> = new Set(
  `.claude .claude.json claude.md claude.local.md .mcp.json mcp.json agents.md agents.override.md .agents .codex gemini.md .gemini .geminiignore
qwen.md .qwen .cursor .cursorrules .windsurf .windsurfrules .clinerules .roo .roomodes .kilocode .continue .aider.conf.yml .aider .opencode
opencode.json opencode.jsonc .crush.json .goosehints .amazonq .kiro .junie .augment copilot-instructions.md .vscode .idea .zed .fleet .devcontainer
.devcontainer.json .exrc .vimrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .envrc .env .mise .mise.toml mise.toml .mise.local.toml .tool-versions .npmrc
.yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnp.cjs bunfig.toml .cargo .gdbinit .lldbinit .husky .pre-commit-config.yaml lefthook.yml .lefthook.yml
.bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .inputrc .gitconfig .gitmodules .hgrc .hg .jj sitecustomize.py usercustomize.py`.split(
    /\s+/,
  ),
);

/** Names beside a file `HEAD`: the folder is a repository of Git, whatever its name. */
export const REPOSITORY_NAMES: ReadonlySet<string> = new Set(['config', 'config.worktree', 'hooks', 'commondir']);

/** The files and folders below the folder, as bytes, because a name need not be UTF-8. */
export async function findObeyed(folder: Buffer): Promise<readonly Buffer[]> {
  const entries = await entriesIn(folder);
  const isRepository = entries.some((entry) => entry.name.toLowerCase() === 'head');
  const found: Buffer[] = [];
  for (const entry of entries) {
    const name = entry.name.toLowerCase();
    const path = Buffer.concat([folder, Buffer.from(`/${entry.name}`, 'latin1')]);
    // A file or link `.git` leads to a repository under another name.
    const isObeyed = OBEYED_NAMES.has(name) || (isRepository && REPOSITORY_NAMES.has(name)) || name === '.git';
    if (isObeyed && (name !== '.git' || !entry.isDirectory())) found.push(path);
    else if (entry.isDirectory()) found.push(...(await findObeyed(path)));
  }
  return found;
}

/** A program can make a folder unreadable, and one that is too deep to be opened. */
async function entriesIn(folder: Buffer) {
  const read = () => readdir(folder, { withFileTypes: true, encoding: 'latin1' });
  return read().catch(async (error: unknown) => {
    if (codeOf(error) === 'ENAMETOOLONG' || codeOf(error) === 'ENOENT') return [];
    await chmod(folder, 0o700);
    return read();
  });
}
