/** Targets that are defined in the configuration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileConfig, compileFiles, printed } from '../../helpers/compile.ts';

const BOARD = `
    title: A board in the hall
    aliases: [hall]
    settings: { pin: { secret: true, required: true, help: Key of the board. } }
    address: { chat_id: { pattern: "[a-z]{1,9}", help: Name of the board. } }
    base: https://board.example.org
    request: { path: /, headers: { x-pin: "{pin}" }, json: { text: "{text}" } }
`;

const config = (platform: string, targets: string, chat = 'hall') => `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      r: { prompt: "{x}", deliver: hall, deliver_extra: { chat_id: ${chat} } }
  ${platform}
${targets}`;

const ENABLED = 'board: { enabled: true, pin: env:BOARD_PIN }';

test('finds a target of the config by name and alias, with its settings and address forms', () => {
  const { output, diagnostics } = compileConfig(config(ENABLED, `targets:\n  board:${BOARD}`));
  assert.ok(output !== null, JSON.stringify(diagnostics));
  assert.deepEqual(
    output.table.routes.r?.deliver.map(({ target }) => target),
    ['board'],
  );
  const inFile = compileFiles({
    'hookwright.yaml': config(ENABLED, ''),
    '~/.hookwright/catalog/targets/board.yaml': BOARD.replace(/^ {4}/gm, ''),
  });
  assert.deepEqual(inFile.output?.table.targets.board, output.table.targets.board, printed(inFile));
  const wrong = printed(compileConfig(config(ENABLED, `targets:\n  board:${BOARD}`, 'H-1')));
  assert.match(wrong, /error address-form: `hall` .*"H-1"/);
});

test('a target replaces the shipped one of its name, and may be defined only once', () => {
  const shipped = config('team_chat: { enabled: true, pin: env:BOARD_PIN }', `targets:\n  team_chat:${BOARD}`);
  assert.match(JSON.stringify(compileConfig(shipped).output?.table.targets.mattermost), /board\.example\.org/);
  const alias = compileConfig(
    config('mattermost: { enabled: true, pin: env:BOARD_PIN }', `targets:\n  mattermost:${BOARD}`),
  );
  assert.equal(alias.output?.table.target_names.mattermost, 'mattermost', printed(alias));
  assert.equal(alias.output?.table.target_names.team_chat, 'mattermost');
  const twice = compileFiles({
    'hookwright.yaml': config(ENABLED, `targets:\n  board:${BOARD}`),
    '~/.hookwright/catalog/targets/board.yaml': BOARD.replace(/^ {4}/gm, ''),
  });
  assert.match(printed(twice), /hookwright\.yaml:9:3: error duplicate-definition: .*`board`/);
});

test('reports an invalid target at its position, without consequences', () => {
  const bad = compileConfig(config(ENABLED, `targets:\n  board:${BOARD.replace('{pin}', '{pni}')}`));
  assert.equal(bad.output, null);
  assert.match(
    printed(bad),
    /^hookwright\.yaml:15:44: error target-value: `\{pni\}`[^\n]*\n(?:[^\n]*\n){3}1 error\n?$/,
  );
  const misspelt = printed(
    compileConfig(config(ENABLED, `targets:\n  board:${BOARD.replace('base:', 'bas:')}`).replaceAll('hall', 'board')),
  );
  assert.match(misspelt, /unknown-key: .*`bas`/);
  assert.doesNotMatch(misspelt, /unknown-target/);
});
