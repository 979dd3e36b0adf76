/** A gateway with a console, whose every response is checked against the OpenAPI document. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { DOCUMENT } from '../../modules/console/runtime/api/built/operations.ts';
import type { Api } from '../../modules/console/runtime/api/generated/api.ts';
import type { TestGateway } from './gateway.ts';
import { startGateway } from './gateway.ts';
import { tempDir } from './temp-dir.ts';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

export const document = JSON.parse(DOCUMENT) as {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const ajv = new Ajv2020({ allErrors: true, strict: true, strictSchema: false, allowUnionTypes: true });
ajv.addSchema(document, 'document');

const pointer = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Fails if the response does not match the document. */
export function checkAnswer(method: string, path: string, status: number, body: unknown): void {
  const template = Object.keys(document.paths).find(
    (each) =>
      document.paths[each]?.[method.toLowerCase()] !== undefined &&
      new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const operation = document.paths[template ?? '']?.[method.toLowerCase()];
  const name = operation !== undefined && status < 300 ? String(status) : 'default';
  const ref =
    operation === undefined
      ? 'document#/components/schemas/Error'
      : `document#/paths/${pointer(template ?? '')}/${method.toLowerCase()}/responses/${name}/content/application~1json/schema`;
  const validate = ajv.getSchema(ref);
  if (validate === undefined) throw new Error(`no schema for ${method} ${path} ${status}`);
  assert.ok(validate(body), `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)}`);
}

/** Fails if the value does not match a schema of the document. */
export function checkValue(schema: string, value: unknown): void {
  const validate = ajv.getSchema(`document#/components/schemas/${schema}`);
  assert.ok(validate?.(value), `${schema}: ${ajv.errorsText(validate?.errors)}`);
}

export interface TestedConsole {
  readonly gateway: TestGateway;
  /** URL of the console, with its `base_path`, if it has one. */
  readonly url: string;
  /** Requests one operation, and checks its response. */
  readonly get: <Id extends keyof Api>(path: string) => Promise<Api[Id]['output']>;
  /** Makes a change, and checks its response. */
  readonly change: <Id extends keyof Api>(path: string, body?: object) => Promise<Api[Id]['output']>;
  /** Requests and checks any response, including an error. */
  readonly ask: (path: string, init?: RequestInit) => Promise<{ readonly status: number; readonly body: unknown }>;
}

/** The code of an error, and its text. */
export const refusalIn = ({ body }: { readonly body: unknown }): readonly [code: string, text: string] => {
  const { code, error } = body as { readonly code: string; readonly error: string };
  return [code, error];
};

/** @param config with `gateway: { console: … }` */
export async function startConsole(
  t: TestContext,
  config: string,
  headers: Record<string, string> = {},
  home = tempDir(t),
): Promise<TestedConsole> {
  const gateway = await startGateway(t, { home, config });
  const url = (await gateway.status()).console ?? '';
  const ask: TestedConsole['ask'] = async (path, init = {}) => {
    const response = await fetch(url + path, { ...init, headers: { ...headers, ...init.headers } });
    const body: unknown = await response.json();
    checkAnswer(init.method ?? 'GET', path.split('?', 1)[0] ?? '', response.status, body);
    return { status: response.status, body };
  };
  const answered = async <Id extends keyof Api>(path: string, init: RequestInit): Promise<Api[Id]['output']> => {
    const { status, body } = await ask(path, init);
    assert.equal(status, 200, JSON.stringify(body));
    return body as Api[Id]['output'];
  };
  const sent = (body: object): RequestInit => ({
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  });
  return {
    ...{ gateway, url, ask },
    get: (path) => answered(path, {}),
    change: (path, body = {}) => answered(path, sent(body)),
  };
}
