/** Plans what `init` writes: the files of a template, adapted to the project. Pure: nothing is read or written here. */
import { setEnvLines } from '../../../../cli/files/env-file.ts';
import type { Template } from './templates.ts';

export interface InitFacts {
  /** Variables with which routes verify requests; a secret is generated for each. */
  readonly made: readonly string[];
  /** Other variables of the configuration: credentials that only the user has. */
  readonly wanted: readonly string[];
  /** The text of the existing `.env`; empty if there is none. */
  readonly env: string;
  readonly newSecret: () => string;
}

export interface InitFile {
  /** Relative to the folder. */
  readonly name: string;
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

const SCHEMA_FILE = 'hookwright.schema.json';

/** @param schema text of the JSON Schema that is written next to the configuration, for editors */
export function planInit(template: Template, schema: string, facts: InitFacts): readonly InitFile[] {
  const files = [...template.files].map(([name, text]): InitFile => {
    const own = name === 'hookwright.yaml' ? `${header(template.name)}${text}` : text;
    return { name, text: own, mode: 0o644 };
  });
  return [
    ...files,
    { name: '.env', text: envText(facts), mode: 0o600 },
    { name: SCHEMA_FILE, text: schema, mode: 0o644 },
  ];
}

/** The first line is for editors with the YAML language server. */
const header = (name: string): string =>
  `# yaml-language-server: $schema=./${SCHEMA_FILE}\n# Made by \`hookwright init\` from the template ${name}. \`hookwright lint\` checks it.\n`;

const ENV_HEADER = '# Read by hookwright, beside hookwright.yaml. Keep it out of version control.\n';

/** Existing values are kept. */
function envText({ made, wanted, env, newSecret }: InitFacts): string {
  const isSet = (name: string): boolean => new RegExp(`^\\s*(?:export\\s+)?#?\\s*${name}\\s*=`, 'm').test(env);
  const values = Object.fromEntries(made.filter((name) => !isSet(name)).map((name) => [name, newSecret()]));
  const missing = wanted.filter((name) => !isSet(name)).map((name) => `# ${name}=`);
  const text = env === '' ? ENV_HEADER : env;
  const withSecrets = Object.keys(values).length === 0 ? text : setEnvLines(text, values);
  return missing.length === 0 ? withSecrets : `${withSecrets.replace(/\n?$/, '\n')}${missing.join('\n')}\n`;
}
