/** `hookwright profile create`: a folder for an identity of its own, with nothing shared. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_PROFILE, PROFILE_NAME, profileHome } from '../../../base/profiles.ts';
import { writeAtomic } from '../../../runtime/platform/write-atomic.ts';
import { openHome } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import { argument, command } from '../../command-line/command.ts';
import { printLine, printNote } from '../../output/print.ts';

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

export default command({
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
