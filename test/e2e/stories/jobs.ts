/** Scheduled prompts and blueprints. */
import type { Story } from './story.ts';

const CONFIG = 'platforms:\n  webhook:\n    enabled: true\n    port: 0\n    secret: env:WEBHOOK_SECRET\n';
const SECRET = 'the-secret-of-a-home-with-jobs';
const files = { 'home/config.yaml': CONFIG, 'home/.env': `WEBHOOK_SECRET=${SECRET}\n` };

export const jobs: Story = {
  about: 'a job is created, changed, paused, run and removed',
  files,
  secrets: [SECRET],
  steps: [
    { run: 'job list', err: /^no jobs; to create one: hookwright job create/ },
    {
      run: "job create report --schedule '0 8 * * 1-5' --prompt 'Write it.' --timezone Europe/London",
      out: /^job report \(\w+\) created\nruns weekdays at 08:00 in Europe\/London; next: /,
      err: /^no gateway is running; /,
      modes: { 'home/state.db': 0o600 },
    },
    { run: 'job create tea --prompt x', code: 2, err: /^error: --schedule is missing\n/ },
    { run: "job create tea --schedule '61 * * * *' --prompt x", code: 1, err: /invalid-schedule/ },
    { run: 'gateway start', out: /./, err: /^started /m },
    { run: 'job list', out: 'NAME …\nreport  … active …\n' },
    { run: "job edit report --schedule '30 9 * * *' --json", json: true, out: /"schedule": "30 9 \* \* \*"/ },
    { run: 'job edit report', code: 2, err: /^error: nothing to change\n/ },
    { run: 'job pause report', out: /^job report \(\w+\) paused\n$/ },
    { run: 'job list --json', json: true, out: /"paused": true/ },
    { run: 'job resume report', out: /^job report \(\w+\) resumed\n$/ },
    { run: 'job run report', out: /^job report \(\w+\) runs as \w+; /, keep: { id: /runs as (\w+)/ } },
    { run: 'deliveries show $id', out: /^state +done\n/m, eventually: true },
    { run: 'job show report', out: /^report \(\w+\) is active\n[\s\S]*Next runs:\n/ },
    { run: 'job show rapport', code: 1, err: /^error: there is no job "rapport"/ },
    { run: 'job remove report', out: /^job report \(\w+\) removed\n$/ },
    { run: 'job remove report', code: 1, err: /^error: there is no job "report"/ },
    { run: 'gateway stop', err: 'stopped\n' },
  ],
};

const FILLED = 'time=07:30 deliver=local';

export const blueprints: Story = {
  about: 'a blueprint is shown, filled, shared and made a job',
  files,
  secrets: [SECRET],
  steps: [
    { run: 'blueprint list', out: /^KEY +CATEGORY +WHEN +DESCRIPTION\n[\s\S]*^morning-brief +daily +daily at 08:00/m },
    { run: 'blueprint show morning-brief', out: /^Morning brief \(morning-brief, daily\)\n[\s\S]*^Command: /m },
    { run: `blueprint fill morning-brief ${FILLED}`, out: /30 7 \* \* \*/ },
    { run: 'blueprint fill morning-brief time=25:00', code: 1, err: /^error: `time` cannot be `25:00`; / },
    { run: `blueprint command morning-brief ${FILLED}`, out: `/blueprint morning-brief ${FILLED}\n` },
    {
      run: `blueprint link morning-brief ${FILLED}`,
      out: 'hookwright://blueprint/morning-brief?time=07%3A30&deliver=local\n',
      keep: { link: /^(\S+)/ },
    },
    { run: 'blueprint create $link', out: /^job morning-brief \(\w+\) created\n/, err: /^no gateway is running; / },
    { run: 'job list', out: /^morning-brief +\w+ +active +daily at 07:30 /m },
    { run: 'catalog publish', json: true, out: /"key": "morning-brief"/ },
    {
      run: 'catalog publish --out catalog.json',
      err: /^wrote 14 blueprints to catalog\.json\n$/,
      modes: { 'catalog.json': 0o644 },
    },
  ],
};
