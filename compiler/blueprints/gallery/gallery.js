/** The gallery page's script: computes the command, the link and the next runs of each form as the user types. */

(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const bare = new RegExp(data.bare, 'u');
  const said = document.getElementById('said');
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const RUNS = 5;

  // --- what a form makes -------------------------------------------------------------------------

  /** @returns {[string, string][]} name and value of each field, in field order */
  function readValues(blueprint, form) {
    const chosen = new FormData(form);
    return blueprint.fields.map(({ name }) => [
      name,
      chosen
        .getAll(name)
        .map((value) => String(value).replace(/\r\n?/g, '\n'))
        .findLast((value) => value.trim() !== '') ?? '',
    ]);
  }

  function printCommand(blueprint, values) {
    const pairs = values.map(([name, value], index) => {
      const isBare = blueprint.fields[index].type !== 'text' && bare.test(value);
      return `${name}=${isBare ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`;
    });
    return ['/blueprint', blueprint.key, ...pairs].join(' ');
  }

  function printLink(blueprint, values) {
    return `${data.appScheme}://blueprint/${blueprint.key}?${new URLSearchParams(values)}`;
  }

  function fillSchedule(blueprint, values) {
    const all = new Map(values);
    const [hour, minute] = (all.get(blueprint.time) ?? ':').split(':');
    all.set('hour', String(Number(hour))).set('minute', String(Number(minute)));
    all.set('dow', data.days[all.get(blueprint.day)]);
    return blueprint.schedule.replace(/\{([a-z0-9_]+)\}/g, (whole, name) => all.get(name) ?? whole);
  }

  const dateFormat = new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });

  function nextRuns(schedule) {
    const options = { ...data.cron, timezone: zone, paused: true };
    return new Cron(schedule, options).nextRuns(RUNS).map((date) => {
      const item = document.createElement('li');
      const time = document.createElement('time');
      time.dateTime = date.toISOString();
      time.textContent = dateFormat.format(date);
      item.append(time);
      return item;
    });
  }

  // --- one dialog --------------------------------------------------------------------------------

  function show(dialog, name, text) {
    dialog.querySelector(`[data-out="${name}"] code`).textContent = text;
  }

  /** Marks missing fields and lists them in a sentence. Returns whether the form is complete. */
  function checkValues(blueprint, dialog, values) {
    const missing = blueprint.fields.filter((_, index) => values[index][1] === '');
    for (const control of dialog.querySelectorAll('form [name]')) {
      const isMissing = missing.some((field) => field.name === control.name) && !control.disabled;
      control.toggleAttribute('aria-invalid', isMissing);
      if (isMissing) control.setAttribute('aria-invalid', 'true');
    }
    const fault = dialog.querySelector('.fault');
    const text = missing.length === 0 ? '' : `Still missing: ${missing.map((field) => field.label).join(' ')}`;
    if (fault.textContent !== text) fault.textContent = text;
    fault.hidden = text === '';
    dialog.querySelector('.made').classList.toggle('stale', text !== '');
    for (const button of dialog.querySelectorAll('.copy')) button.disabled = text !== '';
    return text === '';
  }

  function showOther(dialog) {
    for (const other of dialog.querySelectorAll('[id$="-other"]')) {
      const menu = document.getElementById(other.id.replace(/-other$/, ''));
      const isWanted = menu.value === '';
      const isNew = isWanted && other.hidden;
      other.hidden = !isWanted;
      other.disabled = !isWanted;
      if (isNew && dialog.open) other.focus();
    }
  }

  function update(blueprint, dialog) {
    showOther(dialog);
    const values = readValues(blueprint, dialog.querySelector('form'));
    if (!checkValues(blueprint, dialog, values)) return;
    const link = printLink(blueprint, values);
    show(dialog, 'command', printCommand(blueprint, values));
    show(dialog, 'link', link);
    show(dialog, 'shell', `hookwright blueprint create '${link}'`);
    dialog.querySelector('[data-launch]').href = link;
    const schedule = fillSchedule(blueprint, values);
    dialog.querySelector('.runs ol').replaceChildren(...nextRuns(schedule));
    dialog.querySelector('.zone').textContent = `In ${zone}, the time zone of this browser. Cron: ${schedule}`;
  }

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      // No clipboard permission (an embedded or plain-HTTP page): the selection can be copied by hand.
      getSelection().selectAllChildren(source);
      said.textContent = 'Selected. Copy it with the keyboard.';
      return;
    }
    said.textContent = '';
    button.textContent = 'Copied';
    said.textContent = 'Copied.';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  }

  function open(key) {
    const dialog = document.getElementById(key);
    if (!(dialog instanceof HTMLDialogElement) || dialog.open) return;
    const blueprint = data.blueprints.find((one) => one.key === key);
    update(blueprint, dialog);
    dialog.showModal();
    dialog.querySelector('h2').focus();
    history.replaceState(null, '', `#${key}`);
  }

  for (const blueprint of data.blueprints) {
    const dialog = document.getElementById(blueprint.key);
    const form = dialog.querySelector('form');
    form.addEventListener('input', () => update(blueprint, dialog));
    form.addEventListener('reset', () => setTimeout(() => update(blueprint, dialog)));
    form.addEventListener('submit', (event) => event.preventDefault());
    dialog.addEventListener('close', () => history.replaceState(null, '', location.pathname + location.search));
    // The content covers the whole dialog, so a click on the dialog itself is on its backdrop.
    dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
    dialog.querySelector('.close').addEventListener('click', () => dialog.close());
    for (const button of dialog.querySelectorAll('.copy')) button.addEventListener('click', () => copy(button));
  }
  for (const button of document.querySelectorAll('[data-open]')) {
    button.addEventListener('click', () => open(button.dataset.open));
  }

  // --- finding one -------------------------------------------------------------------------------

  const search = document.getElementById('search');
  const toolbar = search.form;
  const cards = [...document.querySelectorAll('.card')];

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const category = new FormData(toolbar).get('category');
    let count = 0;
    for (const card of cards) {
      const text = card.textContent.toLowerCase();
      const isShown =
        (category === '' || card.dataset.category === category) && words.every((word) => text.includes(word));
      card.hidden = !isShown;
      if (isShown) count += 1;
    }
    document.getElementById('none').hidden = count > 0;
    document.getElementById('count').textContent = count === 1 ? '1 blueprint' : `${count} blueprints`;
  }

  toolbar.addEventListener('input', filter);
  toolbar.addEventListener('submit', (event) => event.preventDefault());

  // --- light and dark ----------------------------------------------------------------------------

  const THEMES = ['auto', 'light', 'dark'];
  const theme = document.getElementById('theme');

  function setTheme(name) {
    if (name === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    theme.textContent = `Theme: ${name}`;
    try {
      localStorage.setItem('theme', name);
    } catch {
      // A page opened from a file may have no storage; the choice then lasts as long as the page.
    }
  }

  function savedTheme() {
    try {
      return localStorage.getItem('theme');
    } catch {
      return null;
    }
  }

  theme.addEventListener('click', () => {
    setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme ?? 'auto') + 1) % THEMES.length]);
  });
  theme.hidden = false;
  setTheme(THEMES.find((name) => name === savedTheme()) ?? 'auto');
  if (location.hash !== '') open(decodeURIComponent(location.hash.slice(1)));
  addEventListener('hashchange', () => open(decodeURIComponent(location.hash.slice(1))));
})();
