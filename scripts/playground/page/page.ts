/** The page: a configuration on the left, a payload on the right, diagnostics and explanation below them, as one types. */
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts';
import { printPretty } from '../../../compiler/print/print-pretty.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { compileIn, explainIn, PROJECT } from './run.ts';

const CONFIG = `${PROJECT}/hookwright.yaml`;
/** Between the last key and the result, in ms. */
const PAUSE_MS = 150;

function element<Kind extends HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found as Kind;
}

const config = element<HTMLTextAreaElement>('config');
const payload = element<HTMLTextAreaElement>('payload');
const route = element<HTMLSelectElement>('route');
const event = element<HTMLInputElement>('event');
const diagnostics = element<HTMLOListElement>('diagnostics');
const summary = element('summary');
const explanation = element('explanation');

/** Names of all routes; the one that was chosen stays chosen. */
function offerRoutes(table: RouteTable): void {
  const names = Object.keys(table.routes);
  const chosen = route.value;
  if (names.join('\n') === [...route.options].map(({ value }) => value).join('\n')) return;
  route.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
}

/** Without the count, which stands once above all of them. */
const printOne = (diagnostic: Diagnostic): string =>
  printPretty([diagnostic], { color: false, width: 100 }).split('\n').slice(0, -2).join('\n').trimEnd();

/** A click on a diagnostic selects what it is about. */
function show(found: ReturnType<typeof compileIn>['diagnostics']): void {
  const items = found.map((diagnostic) => {
    const item = document.createElement('li');
    const text = document.createElement('button');
    text.type = 'button';
    text.className = diagnostic.severity;
    text.textContent = printOne(diagnostic);
    text.onclick = () => {
      config.focus();
      config.setSelectionRange(diagnostic.range.start, diagnostic.range.end);
    };
    item.append(text);
    return item;
  });
  diagnostics.replaceChildren(...items);
}

let turn = 0;

async function run(): Promise<void> {
  const mine = ++turn;
  const result = compileIn({ [CONFIG]: config.value });
  const errors = result.diagnostics.filter(({ severity }) => severity === 'error').length;
  const others = result.diagnostics.length - errors;
  summary.textContent = `${count(errors, 'error')}, ${count(others, 'warning')}`;
  show(result.diagnostics);
  const table = result.output?.table;
  if (table !== undefined) offerRoutes(table);
  const lines = table === undefined ? ['The configuration has errors: nothing is served.'] : await explain(table);
  if (mine === turn) explanation.textContent = lines.join('\n');
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

async function explain(table: RouteTable): Promise<readonly string[]> {
  const plan = table.routes[route.value];
  if (plan === undefined) return ['The configuration has no route.'];
  try {
    return await explainIn(table, plan, { payload: payload.value, event: event.value.trim() });
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** What a link brings: `#` and the base64url of a JSON object with the values of the fields. */
function readLink(): void {
  const coded = location.hash.slice(1).replaceAll('-', '+').replaceAll('_', '/');
  if (coded === '') return;
  try {
    const bytes = Uint8Array.from(atob(coded), (character) => character.charCodeAt(0));
    const values = JSON.parse(new TextDecoder().decode(bytes)) as Readonly<Record<string, unknown>>;
    for (const field of [config, payload, event])
      if (typeof values[field.id] === 'string') field.value = String(values[field.id]);
  } catch {
    summary.textContent = 'The link of this page is damaged.';
  }
}

let timer: ReturnType<typeof setTimeout> | undefined;
for (const field of [config, payload, route, event])
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), PAUSE_MS);
  });
addEventListener('hashchange', () => {
  readLink();
  void run();
});
readLink();
void run();

/** For tests, and for the console of a browser. */
Object.assign(globalThis, { hookwright: { compileIn, explainIn, printPretty } });
