/** `hookwright job edit`: changes a job that was made at run time. */
import { UsageError } from '../../base/errors.ts';
import { argument, command, text } from '../../command-line/command.ts';
import {
  approveOption,
  budgetOption,
  chatIdOption,
  configOption,
  descriptionOption,
  jobProfileOption,
  jsonOption,
  promptOption,
  scheduleOption,
} from '../../command-line/options.ts';
import { configFromFlags } from '../../jobs/draft-job.ts';
import { editJob } from '../../jobs/edit-job.ts';
import { openJob, recordOf } from '../../jobs/open-jobs.ts';
import { printMade } from '../../jobs/print-job.ts';
import { chooseTimezone } from '../../jobs/timezone.ts';
import { makeStore } from '../../store/use-store.ts';

export default command({
  summary: 'Change a job: only what the flags say',
  details: 'A job of the config is changed where it is written. A run under way goes on as it began.',
  examples: [
    ['Later, and only on weekdays', "$0 job edit report --schedule '30 9 * * 1-5'"],
    ['Another name', '$0 job edit report --name morning-report'],
  ],
  options: {
    name: text('name', 'Another name; the id stays'),
    schedule: scheduleOption,
    prompt: promptOption,
    deliver: text('target', 'origin, local or a target; several by comma'),
    deliverChatId: chatIdOption,
    approve: approveOption,
    agent: text('name', 'One of `agents`; none: the prompt is the message, and no agent runs'),
    skills: text('names', 'Skills of each run, by comma; empty for none'),
    toolsets: text('names', 'Toolsets of each run, by comma'),
    timezone: text('zone', 'IANA zone of the schedule'),
    misfire: text('rule', 'skip or once'),
    budget: budgetOption,
    description: descriptionOption,
    profile: jobProfileOption,
    config: configOption,
    json: jsonOption,
  },
  args: { reference: argument('job') },
  async run(context, given) {
    const config = configFromFlags(given);
    if (config.deliver_extra !== undefined && config.deliver === undefined) {
      throw new UsageError('--deliver-chat-id needs --deliver', 'name the target whose chat is meant');
    }
    const unlimited = given.budget === '';
    if (!unlimited && Object.keys(config).length === 0 && given.name === undefined && given.timezone === undefined) {
      throw new UsageError('say what to change', 'hookwright job edit --help lists the flags');
    }
    const { open, job } = await openJob(context, given);
    const record = recordOf(open, job);
    const timezone = given.timezone === undefined ? undefined : chooseTimezone(given.timezone, '');
    const now = context.clock.now();
    const change = { name: given.name, timezone, config, unlimited };
    const edited = await makeStore(context, (store) => editJob(record, change, { store, open, now }));
    printMade(context, { ...edited, verb: 'changed', open }, given.json);
  },
});
