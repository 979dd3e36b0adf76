/** Finds the operation of a request to `/api/…`, validates its input against the OpenAPI document, and responds with its result. */
import { ControlError } from '../../../../runtime/control/control-error.ts';
import type { Answer } from '../answer.ts';
import { ApiRefusal, json } from '../answer.ts';
import * as bodies from './built/bodies.ts';
import { DOCUMENT, OPERATIONS } from './built/operations.ts';
import * as parameters from './built/parameters.ts';
import type { ApiContext } from './call-operation.ts';
import type { Api } from './generated/api.ts';
import { HANDLERS } from './handlers.ts';

type Id = keyof Api;

interface Problem {
  readonly instancePath: string;
  readonly params: { readonly additionalProperty?: string; readonly allowedValues?: readonly unknown[] };
  readonly message?: string;
}

interface Validate {
  (input: unknown): boolean;
  readonly errors?: readonly Problem[] | null;
}

type Validators = Readonly<Record<Id, Validate>>;
const PARAMETERS: Validators = parameters;
const BODIES: Validators = bodies;

const ROUTES = Object.entries(OPERATIONS).map(([id, { method, path }]) => ({
  id: id as Id,
  method,
  segments: path.split('/'),
}));

interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: object;
}

/** @throws ApiRefusal */
export async function answerApi(context: ApiContext, { method, path, query, body }: ApiRequest): Promise<Answer> {
  if (path === '/api/openapi.json' && method === 'GET')
    return { status: 200, type: 'application/json', text: DOCUMENT };
  const found = ROUTES.flatMap((route) => {
    const named = parametersIn(route.segments, path.split('/'));
    return named === null ? [] : [{ ...route, named }];
  });
  if (found.length === 0) throw new ApiRefusal(404, 'not_found', 'unknown operation: /api/openapi.json lists all');
  const operation = found.find((each) => each.method === method);
  const allow = found.map((each) => each.method).join(', ');
  if (operation === undefined) throw new ApiRefusal(405, 'method_not_allowed', `this path accepts ${allow}`, { allow });
  const twice = Object.keys(operation.named).find((name) => query.has(name));
  if (twice !== undefined) throw new ApiRefusal(400, 'bad_input', `${twice} belongs in the path only`);
  const named = checked(PARAMETERS[operation.id], { ...once(query), ...operation.named });
  const input = { ...named, ...checked(BODIES[operation.id], body) };
  try {
    const handler = HANDLERS[operation.id] as (context: ApiContext, input: unknown) => Promise<unknown>;
    return json(200, await handler(context, input));
  } catch (error) {
    if (error instanceof ControlError) throw new ApiRefusal(STATUS[error.code] ?? 409, error.code, error.message);
    throw error;
  }
}

/** HTTP status by error code of an operation; all others are 409. */
const STATUS: Readonly<Record<string, number>> = { store_unavailable: 503, not_found: 404 };

/** The parameters of a path; null if it does not match the template. */
function parametersIn(template: readonly string[], path: readonly string[]): Readonly<Record<string, string>> | null {
  if (template.length !== path.length) return null;
  const named: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const given = path[index] ?? '';
    if (!part.startsWith('{')) {
      if (part !== given) return null;
      continue;
    }
    try {
      named[part.slice(1, -1)] = decodeURIComponent(given);
    } catch {
      return null;
    }
  }
  return named;
}

/** @throws ApiRefusal for a repeated parameter */
function once(query: URLSearchParams): Readonly<Record<string, string>> {
  const named = Object.fromEntries(query);
  if ([...query].length !== Object.keys(named).length)
    throw new ApiRefusal(400, 'bad_input', 'a parameter is repeated');
  return named;
}

/** @throws ApiRefusal that names the invalid input */
function checked(validate: Validate, input: object): object {
  if (validate(input)) return input;
  const [{ instancePath = '', params = {}, message = 'is invalid' } = {}] = validate.errors ?? [];
  const { additionalProperty = null, allowedValues } = params;
  if (additionalProperty !== null) throw new ApiRefusal(400, 'bad_input', `unknown parameter ${additionalProperty}`);
  const place = instancePath.slice(1);
  const wrong = allowedValues === undefined ? message : `must be one of ${allowedValues.join(', ')}`;
  throw new ApiRefusal(400, 'bad_input', `${place === '' ? 'the input' : place} ${wrong}`);
}
