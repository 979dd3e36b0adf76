/** `hookwright profile`: identities of their own on one gateway. */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createPaint } from '../base/paint.ts';
import { DEFAULT_PROFILE, PROFILE_NAME, profileHome } from '../base/profiles.ts';
import { writeAtomic } from '../runtime/platform/write-atomic.ts';
import { openHome } from './base/context.ts';
import { CliError } from './base/errors.ts';
import { findName } from './base/find-name.ts';
import { argument, command } from './command-line/command.ts';
import { configOption, jsonOption } from './command-line/options.ts';
import { printJson, printLine, printNote } from './output/print.ts';
import { printList } from './output/table.ts';
import type { ProfileClosure } from './profiles/closure.ts';
import { formatClosure, loadClosures } from './profiles/closure.ts';
import { openTable } from './subscriptions/routes.ts';

const CONFIG = `# What this profile may use; nothing falls back to another profile.
# platforms:
#   telegram:
#     enabled: true
#     token: env:MESSENGER_A_TOKEN # from .env beside this file
#     home_channel: "-1001234"
# agent:
#   command: [my-agent, --print]
# jobs: {}
`;
const ENV = '# Secrets of this profile alone: KEY=value\n';
const FOLDERS = ['scripts', 'skills', 'sessions'];

/** `hookwright profile create`: a folder for an identity of its own, with nothing shared. */
export const profileCreateCommand = command({
  summary: 'Make a profile: its own credentials, targets, agent, scripts and sessions',
  details:
    'A profile serves the routes that name it, at /p/<profile>/webhooks/<route>, once gateway.multiplex_profiles is on. It reaches only what lies in its own folder.',
  examples: [['An identity for work', '$0 profile create work']],
  args: { name: argument('name') },
  async run(context, given) {
    const { name } = given;
    if (name === DEFAULT_PROFILE) throw new CliError('`default` is the home itself and always there', context.home);
    if (!PROFILE_NAME.test(name)) {
      throw new CliError(
        `"${name}" cannot name a profile`,
        'lower-case letters, digits, - and _, at most 64, a letter or digit first',
      );
    }
    const home = profileHome(openHome(context), name);
    if (existsSync(home))
      throw new CliError(
        `there is a profile "${name}" already: ${home}`,
        `look at it: hookwright profile show ${name}`,
      );
    mkdirSync(home, { recursive: true, mode: 0o700 });
    for (const folder of FOLDERS) mkdirSync(join(home, folder), { mode: 0o700 });
    writeAtomic(join(home, 'config.yaml'), CONFIG, 0o600);
    writeAtomic(join(home, '.env'), ENV, 0o600);
    printLine(context, home);
    printNote(
      context,
      `switch profiles on: gateway.multiplex_profiles: true\nthen bind a route to it: profile: ${name}, or hookwright webhook subscribe <name> --route-profile ${name}`,
    );
  },
});

/** The folder is not served because profiles are switched off. */
type Row = Pick<ProfileClosure, 'id' | 'name' | 'home' | 'agent' | 'routes' | 'targets'> & { readonly served: boolean };

/** `hookwright profile list`: the profiles of this home, with what is bound to each. */
export const profileListCommand = command({
  summary: 'List the profiles of this home and what is bound to each',
  examples: [
    ['Who is served here', '$0 profile list'],
    ['For scripts', '$0 profile list --json'],
  ],
  options: { config: configOption, json: jsonOption },
  async run(context, given) {
    const open = await openTable(context, given.config);
    const served = loadClosures(context.home, open).map((closure): Row => ({ ...closure, served: true }));
    const others = folders(join(context.home, 'profiles')).filter((name) => !served.some((row) => row.name === name));
    const rows = [...served, ...others.map(unserved)];
    printList(context, rows, {
      json: given.json,
      columns: [
        { title: 'NAME', value: ({ name }) => name, whole: true },
        { title: 'ROUTES', value: ({ routes }) => routes.map(({ name }) => name).join(','), whole: true },
        { title: 'TARGETS', value: ({ targets }) => targets.join(','), whole: true },
        { title: 'AGENT', value: ({ agent }) => agent },
        { title: 'STATE', value: (row) => (row.served ? 'served' : 'not served: gateway.multiplex_profiles is off') },
      ],
      empty: 'no profiles',
    });
  },
});

function folders(path: string): string[] {
  const names = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(path) : [];
  return names.filter((name) => PROFILE_NAME.test(name) && statSync(join(path, name)).isDirectory()).sort();
}

const unserved = (name: string): Row => ({
  ...{ id: name, name, home: `profiles/${name}`, agent: '', routes: [], targets: [], served: false },
});

/** `hookwright profile show`: everything one profile can reach. */
export const profileShowCommand = command({
  summary: 'Show everything a profile can reach: routes, targets, credentials, scripts',
  details: 'Credentials are shown as references, never as secrets. What is not listed is out of its reach.',
  examples: [['Before giving it a new sender', '$0 profile show work']],
  options: { config: configOption, json: jsonOption },
  args: { name: argument('profile') },
  async run(context, given) {
    const { name } = given;
    const open = await openTable(context, given.config);
    const closures = loadClosures(context.home, open);
    const closure = findName({
      kind: 'profile',
      name,
      known: closures.map((one) => [one.name, one] as const),
      listedBy: 'hookwright profile list',
      notes: open.table.gateway.multiplex_profiles ? [] : ['profiles are off: set gateway.multiplex_profiles: true'],
    });
    if (given.json) printJson(context, closure);
    else for (const line of formatClosure(closure, createPaint(context.colour.stdout))) printLine(context, line);
  },
});
