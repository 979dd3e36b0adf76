#!/usr/bin/env node
/**
 * Runs the commands of hooks that `hookwright convert adnanh` has converted. hooks.json, in the same folder, contains the
 * hooks by route name.
 *
 *   run-hook.mjs values  as a route's script: reads the payload, prints the command's values as a JSON list
 *   run-hook.mjs run     as the agent: reads that list, runs the command, and exits with its exit code
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { text } from 'node:stream/consumers';

const hooks = JSON.parse(readFileSync(new URL('hooks.json', import.meta.url), 'utf8'));
const route = process.env.HOOKWRIGHT_ROUTE ?? '';
const hook = Object.hasOwn(hooks, route) ? hooks[route] : null;
if (hook === null) fail(`hooks.json has no hook for the route ${JSON.stringify(route)}`);

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Before a number that JavaScript would print in another way, so that commands get it as it was sent. */
const EXACT = `${randomUUID()}:`;
const EXACT_JSON = new RegExp(`"${EXACT}([^"]*)"`, 'g');

const parse = (json) =>
  JSON.parse(
    json.replace(/"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token.startsWith('"') || String(Number(token)) === token ? token : `"${EXACT}${token}"`,
    ),
  );
const print = (value) => JSON.stringify(value).replace(EXACT_JSON, '$1');

/** Prints a list, because an object would replace the payload. */
function valuesOf(body) {
  const payload = unpacked(Array.isArray(body) ? { root: body } : body);
  return [
    hook.arguments.map((value) => textOf(value, payload) ?? ''),
    hook.environment.flatMap((value) => named(value, textOf(value, payload))),
    hook.files.flatMap((value) => named(value, textOf(value, payload)).map((file) => [...file, value.base64])),
  ];
}

/** Values that the request lacks become empty arguments; their variables are not set. */
const named = ({ variable }, content) => (content === null ? [] : [[variable, content]]);

/** Parses the parameters that contain JSON as text. */
function unpacked(payload) {
  const copy = { ...payload };
  for (const name of hook.parsed) {
    try {
      if (typeof copy[name] === 'string') copy[name] = parse(copy[name]);
    } catch {
      // The original also leaves it unchanged.
    }
  }
  return copy;
}

function textOf({ from, name }, payload) {
  switch (from) {
    case 'text':
      return name;
    case 'event':
      return process.env.HOOKWRIGHT_EVENT ?? '';
    case 'delivery':
      return process.env.HOOKWRIGHT_DELIVERY_ID ?? '';
    case 'whole':
      return print(payload);
    default:
      return written(lookUp(payload, name) ?? formField(payload, name));
  }
}

/** A form with `payload` as its only field has been replaced with the field's content. */
const formField = (payload, name) =>
  hook.parsed.includes('payload') && name.startsWith('payload.')
    ? lookUp(payload, name.slice('payload.'.length))
    : undefined;

/** A key that contains dots takes precedence over a path. */
function lookUp(value, name) {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  const dot = name.indexOf('.');
  const first = name.slice(0, dot);
  return dot > 0 && Object.hasOwn(value, first) ? lookUp(value[first], name.slice(dot + 1)) : undefined;
}

function written(value) {
  if (value === undefined) return null;
  if (value === null) return '<nil>';
  return typeof value === 'object' ? print(value) : String(value).replace(EXACT, '');
}

function run([args, variables, files]) {
  const folder = files.length === 0 ? null : mkdtempSync(join(hook.directory ?? tmpdir(), 'hook-'));
  const env = { ...process.env, ...Object.fromEntries(variables) };
  for (const [index, [variable, content, base64]] of files.entries()) {
    env[variable] = join(folder, String(index));
    writeFileSync(env[variable], base64 ? Buffer.from(content, 'base64') : content);
  }
  const end = (code) => {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    process.exitCode = code;
  };
  const { command, directory } = hook;
  const program = directory === null || isAbsolute(command) ? command : join(directory, command);
  const child = spawn(program, args, { cwd: directory ?? process.env.HOME, env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(process.stdout);
  child.stderr.on('data', (chunk) => {
    process.stdout.write(chunk);
    process.stderr.write(chunk);
  });
  child.on('error', ({ message }) => {
    process.stderr.write(`${message}\n`);
    end(1);
  });
  child.on('close', (code) => end(code ?? 1));
}

const input = await text(process.stdin);
if (process.argv[2] === 'values') process.stdout.write(JSON.stringify(valuesOf(parse(input))));
else run(JSON.parse(input));
