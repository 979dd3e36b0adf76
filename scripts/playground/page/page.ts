/** The playground: a configuration and a payload, with diagnostics and explanation below, updated while the user types. */
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts';
import { printPretty } from '../../../compiler/print/print-pretty.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { compileIn, explainIn, PROJECT } from './run.ts';

const CONFIG = `${PROJECT}/hookwright.yaml`;
/** Delay between the last key and the result, in ms. */
const PAUSE_MS = 150;

function element<Kind extends HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found as Kind;
}

const config = element<HTMLTextAreaElement>('config');
const payload = element<HTMLTextAreaElement>('payload');
const route = element<HTMLSelectElement>('route');
const event = element<HTMLInputElement>('event');
const diagnostics = element<HTMLOListElement>('diagnostics');
const summary = element('summary');
const explanation = element('explanation');

/** Offers all routes, and preserves the selection. */
function offerRoutes(table: RouteTable): void {
  const names = Object.keys(table.routes);
  const chosen = route.value;
  if (names.join('\n') === [...route.options].map(({ value }) => value).join('\n')) return;
  route.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
}

/** Prints a diagnostic without the count, which is shown once above the list. */
const printOne = (diagnostic: Diagnostic): string =>
  printPretty([diagnostic], { color: false, width: 100 }).split('\n').slice(0, -2).join('\n').trimEnd();

/** Shows diagnostics; a click selects the text that a diagnostic is about. */
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
  const { output } = result;
  if (output !== null) offerRoutes(output.table);
  const lines =
    output === null ? ['The configuration has errors. Fix them to explain the event.'] : await explain(output);
  if (mine === turn) explanation.textContent = lines.join('\n');
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

async function explain(output: Parameters<typeof explainIn>[0]): Promise<readonly string[]> {
  const plan = output.table.routes[route.value];
  if (plan === undefined) return ['The configuration has no route.'];
  try {
    return await explainIn(output, plan, { payload: payload.value, event: event.value.trim() });
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Fills the fields from a link: `#` and the base64url of a JSON object with their values. */
function readLink(): void {
  const coded = location.hash.slice(1).replaceAll('-', '+').replaceAll('_', '/');
  if (coded === '') return;
  try {
    const bytes = Uint8Array.from(atob(coded), (character) => character.charCodeAt(0));
    const values = JSON.parse(new TextDecoder().decode(bytes)) as Readonly<Record<string, unknown>>;
    for (const field of [config, payload, event])
      if (typeof values[field.id] === 'string') field.value = String(values[field.id]);
  } catch {
    summary.textContent = 'The link to this page is damaged: its example cannot be read.';
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

/** For tests and the browser's console. */
Object.assign(globalThis, { hookwright: { compileIn, explainIn, printPretty } });
