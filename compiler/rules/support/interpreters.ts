/** Interpreters by name: which arguments they execute as code, and how their code reads an environment variable. */

export interface Interpreter {
  /**
   * `flag`: the text in or after an option; options end at the first argument that is not one.
   * `rest`: everything after an option. `all`: every argument. `first`: the first argument that is not an option.
   */
  readonly reads: 'flag' | 'rest' | 'all' | 'first';
  /** The option. The code may be in the same argument, or in the next one that is not an option. */
  readonly flag: RegExp;
  /** Options whose value is the next argument. */
  readonly valued: RegExp;
  /** After it, or after this number of non-option arguments, the arguments of the code follow. */
  readonly ends: RegExp;
  readonly operands: number;
  /** How code reads the environment variable `NAME`. */
  readonly variable: string;
}

const NEVER = /$^/;

const REST = { flag: NEVER, valued: NEVER, ends: NEVER, operands: 0 };

const flag = (option: RegExp, valued: RegExp, variable: string): Interpreter => ({
  ...REST,
  reads: 'flag',
  flag: option,
  valued,
  variable,
});

const SHELL = flag(
  /^(?:-[A-Za-z]*c|--(?:command|init-command)(?:=|$))/,
  /^(?:[-+][oO]|--rcfile|--init-file)$/,
  '$NAME',
);
const POWERSHELL: Interpreter = {
  ...REST,
  reads: 'rest',
  // Any prefix of the name is accepted: `-c`, `-comm`, `/Command`.
  flag: /^[-/](?:c(?:o(?:m(?:m(?:a(?:n(?:d(?:withargs)?)?)?)?)?)?)?|e|ec|en.*)$/i,
  variable: '$env:NAME',
};
/** The option may follow operands: `su - user -c …`, `flock file -c …`. */
const COMMAND_OPTION = (operands: number): Interpreter => ({
  ...flag(/^(?:-[A-Za-z]*c|--(?:command|run)(?:=|$))/, NEVER, '$NAME'),
  operands,
});
const REMOTE: Interpreter = { ...REST, reads: 'all', variable: '$NAME' };
const FILTER = (option: RegExp, variable: string): Interpreter => ({
  ...flag(option, /^-(?:v|F|-arg|-argjson)$/, variable),
  reads: 'first',
});
const PYTHON: Interpreter = { ...flag(/^-[A-Za-z]*c/, /^-[WXQ]$/, 'os.environ["NAME"]'), ends: /^-m/ };
const NODE = flag(
  /^(?:-[a-z]*[ep]|--(?:eval|print)(?:=|$))/,
  /^(?:-[rC]|--(?:require|import|loader|experimental-loader|conditions|env-file|title))$/,
  'env.NAME of node:process',
);
const PERL = flag(/^-[A-Za-z0-9]*[eE]/, /^-[IMm]$/, '$ENV{NAME}');

/** By program name: lower case, without folder, version and `.exe`. */
export const INTERPRETERS: ReadonlyMap<string, Interpreter> = new Map<string, Interpreter>([
  ...names('sh bash dash zsh ksh mksh pdksh ash rbash csh tcsh fish yash xonsh elvish nu', SHELL),
  ...names('su runuser', COMMAND_OPTION(2)),
  ...names('flock script', COMMAND_OPTION(1)),
  ...names('nix-shell', COMMAND_OPTION(Number.POSITIVE_INFINITY)),
  ...names('cmd', { ...REST, reads: 'rest', flag: /^\/[a-z]*[ckr]/i, variable: '%NAME%' }),
  ...names('powershell pwsh', POWERSHELL),
  ...names('ssh autossh rsh mosh plink dbclient', REMOTE),
  ...names('watch parallel eval', REMOTE),
  ...names('python pythonw pypy jython ipython', PYTHON),
  ...names('node nodejs bun tsx ts-node electron', NODE),
  ...names('deno', flag(/^eval$/, NEVER, 'Deno.env.get("NAME")')),
  ...names('perl', PERL),
  ...names('ruby jruby irb', flag(/^-[A-Za-z0-9]*e/, /^-[IrCE]$/, 'ENV["NAME"]')),
  ...names(
    'php',
    flag(/^(?:-[A-Za-z]*[rBRE]|--(?:run|process-begin|process-code|process-end)$)/, /^-[cdz]$/, 'getenv("NAME")'),
  ),
  ...names('lua luajit', flag(/^-e/, /^-l$/, 'os.getenv("NAME")')),
  ...names('osascript', flag(/^-e/, /^-l$/, '(system attribute "NAME")')),
  ...names('rscript r', flag(/^-e/, NEVER, 'Sys.getenv("NAME")')),
  ...names('julia', flag(/^(?:-[eE]|--(?:eval|print)(?:=|$))/, /^-[LJtp]$/, 'ENV["NAME"]')),
  ...names('elixir iex groovy scala', flag(/^-e/, NEVER, 'the variable NAME')),
  ...names('expect', flag(/^-c/, NEVER, '$env(NAME)')),
  ...names('awk gawk mawk nawk', FILTER(/^(?:-e|--source)/, 'ENVIRON["NAME"]')),
  ...names('sed gsed', FILTER(/^(?:-[A-Za-z]*e|--expression)/, 'the variable NAME, in the program that calls it')),
  ...names('jq', FILTER(NEVER, 'env.NAME')),
  ...names(
    'env',
    flag(/^(?:-[A-Za-z]*S|--split-string)/, /^-[uC]$/, 'the variable NAME, in the program that is started'),
  ),
]);

function names(list: string, interpreter: Interpreter): readonly (readonly [string, Interpreter])[] {
  return list.split(' ').map((name) => [name, interpreter] as const);
}

/** Programs that start another program, which is named in their arguments. */
export const WRAPPERS: ReadonlySet<string> = new Set(
  (
    'env sudo doas nice ionice nohup timeout setsid stdbuf time chrt taskset busybox toybox xargs flock unshare nsenter ' +
    'chroot systemd-run docker podman nerdctl kubectl firejail bwrap strace prlimit gosu tini dumb-init exec command ' +
    'caffeinate sshpass proot fakeroot npx bunx uv poetry pipenv'
  ).split(' '),
);
