/** `hookwright job create`: a scheduled job that needs no config file. */
import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import { UsageError } from '../../base/errors.ts';
import { argument, command, text, withDefault } from '../../command-line/command.ts';
import {
  approveOption,
  budgetOption,
  chatIdOption,
  configOption,
  descriptionOption,
  jsonOption,
  promptOption,
  scheduleOption,
} from '../../command-line/options.ts';
import { createJob } from '../../jobs/create-job.ts';
import { configFromFlags } from '../../jobs/draft-job.ts';
import { openJobs } from '../../jobs/open-jobs.ts';
import { printMade } from '../../jobs/print-job.ts';
import { chooseTimezone } from '../../jobs/timezone.ts';
import { makeStore } from '../../store/use-store.ts';

export default command({
  summary: 'Make a scheduled job',
  details:
    'It is kept beside the config, in the home, and checked by the rules for jobs of a config. A running gateway takes it in within a second.',
  examples: [
    [
      'A report every morning',
      "$0 job create report --schedule '0 8 * * 1-5' --prompt 'Write the report.' --deliver telegram",
    ],
    [
      'To a group, in a zone',
      "$0 job create tea --schedule '0 16 * * *' --prompt 'Tea!' --deliver telegram --deliver-chat-id -100200 --timezone Europe/London",
    ],
  ],
  options: {
    schedule: scheduleOption,
    prompt: promptOption,
    deliver: text('target', 'origin, local or a target; several by comma. Default: log'),
    deliverChatId: chatIdOption,
    approve: approveOption,
    agent: text('name', 'One of `agents`; none: the prompt is the message, and no agent runs'),
    skills: text('names', 'Skills of each run, by comma'),
    toolsets: text('names', "Toolsets of each run, by comma. Default: the profile's"),
    timezone: text('zone', "IANA zone of the schedule. Default: gateway.timezone, else the machine's"),
    misfire: text('rule', 'Runs missed while no gateway was running: skip (default) or once'),
    budget: budgetOption,
    description: descriptionOption,
    profile: withDefault(DEFAULT_PROFILE, text('profile', 'Profile that runs it')),
    config: configOption,
    json: jsonOption,
  },
  args: { name: argument('name') },
  async run(context, given) {
    const { schedule, prompt } = given;
    if (schedule === undefined) throw new UsageError('--schedule is needed', "such as --schedule '0 8 * * 1-5'");
    if (prompt === undefined) throw new UsageError('--prompt is needed');
    const open = await openJobs(context, given.config);
    const timezone = chooseTimezone(given.timezone, open.table.gateway.timezone ?? context.timezone);
    const config = { ...configFromFlags(given), schedule, prompt, timezone };
    const made = await makeStore(context, (store) =>
      createJob({ name: given.name, profile: given.profile, config, blueprint: null }, { store, open, context }),
    );
    printMade(context, { ...made, verb: 'created', open }, given.json);
  },
});
