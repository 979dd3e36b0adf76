/**
 * Inserts the secrets of `only_to` into requests and takes them out of responses, in the proxy of a sandbox. The program knows a
 * placeholder only, and chooses neither the host nor the header that gets the secret. launch.mjs puts this around `https.request`,
 * through which the proxy forwards all requests whose TLS it ends, and around `http.request`. A secret is `{ value, placeholder, hosts,
 * headers, body }`: value and placeholder in Latin-1, hosts as `host:port` or `*.host:port`, headers in lower case.
 */
import { isIP } from 'node:net';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** @param isPlain `request` is `http.request`, which gets no secret @returns the function that replaces `request` */
export function guardSecrets(request, secrets, isPlain = false) {
  const guards = secrets.map((secret) => ({
    ...secret,
    search: searchFor(spellingsOf(secret.value), true),
    inBody: searchFor([[...secret.placeholder]], false),
  }));
  return (options, respond) => {
    // The proxy dials a checked address. The name that the list of hosts allowed is in `servername`, and without TLS in `host`.
    const host = isPlain ? `${options.headers.host}` : (options.servername ?? options.host);
    const name = nameOf(`${host}`.toLowerCase());
    const own = guards.filter(({ hosts }) => receives(hosts, name));
    if (own.length === 0) return request(options, respond);
    const target = `${name.replace(/^.*:.*$/, '[$&]')}:${options.port}`;
    const given = isPlain ? [] : own.filter(({ hosts }) => hosts.some((each) => covers(each, target)));
    const headers = { ...options.headers, 'accept-encoding': 'identity' };
    // A range would cut the secret into parts that are no longer recognised.
    for (const each of ['range', 'if-range', 'te']) delete headers[each];
    for (const { headers: names, placeholder, value } of given)
      for (const each of names.filter((header) => headers[header] !== undefined))
        headers[each] = `${headers[each]}`.replaceAll(placeholder, () => value);
    const sent = request({ ...options, headers }, (response) => respond(censored(response, own)));
    const inBody = given.filter(({ body }) => body);
    return inBody.length === 0 ? sent : rewriteBody(sent, inBody);
  };
}

/** The name or address of `host:port`. */
export const nameOf = (host) => (isIP(host) ? host : host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'));

/** True if the host gets a secret, at whatever port: what it got at one, it can return at another. */
export const receives = (hosts, name) => hosts.some((each) => covers(nameOf(each), name));

const covers = (host, target) => host === target || (host.startsWith('*.') && target.endsWith(host.slice(1)));

/** Placeholders are as long as their secrets, so the length of the body does not change. */
function rewriteBody(sent, secrets) {
  const [write, end] = [sent.write.bind(sent), sent.end.bind(sent)];
  const replacers = secrets.map(({ inBody, value }) => createReplacer(inBody, value));
  const rewrite = (chunk, last) =>
    Buffer.from(
      replacers.reduce((text, replace) => replace(text, last), Buffer.from(chunk).toString('latin1')),
      'latin1',
    );
  sent.write = (chunk) => write(rewrite(chunk, false));
  sent.end = (chunk = '') => end(rewrite(chunk, true));
  return sent;
}

function censored(response, secrets) {
  const { headers, statusCode } = response;
  const codings = `${headers['content-encoding'] ?? ''},${headers['transfer-encoding'] ?? ''}`.toLowerCase();
  if (/[^\s,]/.test(codings.replace(/\b(?:identity|chunked)\b/g, ''))) {
    response.destroy();
    const refusal = 'The host compressed its response, so that it cannot be searched for the secret.\n';
    return Object.assign(Readable.from([Buffer.from(refusal)]), { statusCode: 502, headers: {} });
  }
  const replacers = () => secrets.map(({ search, placeholder }) => createReplacer(search, placeholder));
  const censor = (text) => replacers().reduce((rest, replace) => replace(rest, true), text);
  // A list stays one: `set-cookie`.
  const clean = ([name, value]) => [censor(name), Array.isArray(value) ? value.map(censor) : censor(value)];
  const { 'content-length': _, ...kept } = headers;
  const inOrder = replacers();
  const step = (text, last) =>
    Buffer.from(
      inOrder.reduce((rest, replace) => replace(rest, last), text),
      'latin1',
    );
  const body = new Transform({
    transform: (chunk, _, done) => done(null, step(chunk.toString('latin1'), false)),
    flush: (done) => done(null, step('', true)),
  });
  pipeline(response, body).catch(() => {});
  return Object.assign(body, { statusCode, headers: Object.fromEntries(Object.entries(kept).map(clean)) });
}

/*
 * A spelling is a list of sets of characters: one of each set follows another. Each character may itself be percent-encoded, or an
 * escape of JSON or HTML, and white space and line breaks may separate them.
 */

const BASE64 = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', '+-', '/_'];

/** The secret itself, in hexadecimal digits, and in base64 at each offset from a group of three bytes; and the same in reverse. */
function spellingsOf(value) {
  const bytes = [...Buffer.from(value, 'latin1')];
  return [bytes, bytes.toReversed()].flatMap((each) => [
    [...Buffer.from(each).toString('latin1')],
    [...Buffer.from(each).toString('hex')],
    ...[0, 8, 16].map((skipped) => base64Of(each, skipped)),
  ]);
}

/** At both ends, all characters that have the bits of the secret, with any bits of its neighbours. */
function base64Of(bytes, skipped) {
  const bits = `${'.'.repeat(skipped)}${bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('')}`;
  const groups = bits.match(/.{1,6}/g).map((group) => new RegExp(`^${group.padEnd(6, '.')}$`));
  const sets = groups.map((group) => BASE64.filter((_, at) => group.test(at.toString(2).padStart(6, '0'))).join(''));
  return sets.slice(Math.floor(skipped / 6));
}

const HTML = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** Joins patterns of one character each. @param end `|$`: the text may end after each; empty: it must not */
const chain = (atoms, end) => atoms.reduceRight((rest, atom) => (rest === '' ? atom : `${atom}(?:${rest}${end})`), '');

function escapesOf(character, end) {
  const code = character.charCodeAt(0);
  const hex = [...code.toString(16).padStart(2, '0')];
  const named = Object.hasOwn(HTML, character) ? [['&', ...HTML[character], ';']] : [];
  const backslash = `(?:\\\\|${chain([...'%5c'], end)})`;
  const escapes = [
    [`${backslash}{0,3}`, '%', `(?:${chain([...'25'], end)}){0,3}`, ...hex],
    [`${backslash}{1,4}`, `(?:${chain([...'u00'], end)}|x)`, ...hex],
    ['&', '#', '0{0,6}', ...String(code), ';?'],
    ['&', '#', 'x', '0{0,6}', ...hex, ';?'],
    ...named,
    [`${backslash}{0,3}`, `\\x${hex.join('')}`],
  ];
  return escapes.map((atoms) => chain(atoms, end)).join('|');
}

const gap = (end) => `(?:[\\s\\0]|${chain([...'data:'], end)}|\\\\(?:[nr]${end})){0,16}`;

const literal = (set) =>
  `[${[...set].map((each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}]`;

/** @param loose also finds characters that are escaped or separated */
function patternOf(set, loose, end) {
  return loose ? `(?:${[...set].map((each) => escapesOf(each, end)).join('|')})` : literal(set);
}

/** Results of `endOf` without an end: the text does not match, or ends too early to tell. */
const [NONE, MORE] = [-2, -1];

/** Characters of a step: of the longest gap and escape. */
const LONGEST_STEP = 160;

function endOf(text, start, steps, last) {
  let at = start;
  for (const { whole, begun } of steps) {
    whole.lastIndex = at;
    begun.lastIndex = at;
    const end = whole.test(text) ? whole.lastIndex : NONE;
    // What looks complete may be the beginning of an escape: `%` of `%25`.
    const isNearEnd = !last && end < text.length && text.length - at < LONGEST_STEP;
    if (isNearEnd && begun.test(text) && begun.lastIndex === text.length) return MORE;
    if (end === NONE) return NONE;
    at = end;
  }
  return at;
}

/** @param loose see `patternOf` @returns patterns for `endOf`, by spelling, and one for places where a spelling may start */
function searchFor(spellings, loose) {
  const made = new Map();
  const stepOf = (set, at) => {
    const key = `${at === 0}${set}`;
    const sourceOf = (end) => chain([...(at === 0 || !loose ? [] : [gap(end)]), patternOf(set, loose, end)], end);
    if (!made.has(key))
      made.set(key, { whole: new RegExp(sourceOf(''), 'iy'), begun: new RegExp(sourceOf('|$'), 'iy') });
    return made.get(key);
  };
  const starts = spellings.map((sets) => chain(sets.slice(0, 3).map(literal), `|[\\s\\0d\\\\%&]|$`));
  return {
    steps: spellings.map((sets) => sets.map(stepOf)),
    start: new RegExp(`[%&\\\\]|${starts.join('|')}`, 'gi'),
  };
}

/**
 * @returns a function of the next part of a text, in Latin-1, that returns its censored text so far. It keeps back only what may be the
 * beginning of a spelling.
 */
function createReplacer({ steps, start }, replacement) {
  let held = '';
  return (part, last) => {
    const text = held + part;
    let [out, from] = ['', 0];
    held = '';
    start.lastIndex = 0;
    for (let found = start.exec(text); found !== null; found = start.exec(text)) {
      const ends = steps.map((each) => endOf(text, found.index, each, last));
      const end = Math.max(...ends);
      if (end === MORE) {
        held = text.slice(found.index);
        return out + text.slice(from, found.index);
      }
      if (end > found.index) {
        out += text.slice(from, found.index) + replacement;
        from = end;
      }
      start.lastIndex = Math.max(end, found.index + 1);
    }
    return out + text.slice(from);
  };
}
