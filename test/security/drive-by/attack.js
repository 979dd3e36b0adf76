/**
 * Everything that a web page can try in a browser without permission. Resolves to the data that it could read.
 * @param target an intake URL
 * @param other a console's URL
 */
globalThis.attack = async (target, other) => {
  const read = [];
  const get = async (url, init) => {
    const answer = await fetch(url, init).catch(() => null);
    read.push((await answer?.text().catch(() => '')) ?? '');
  };
  const body = '{"a":1}';
  for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded'])
    for (const mode of ['cors', 'no-cors', 'same-origin'])
      await get(target, { method: 'POST', mode, body, headers: { 'content-type': type }, keepalive: true });
  navigator.sendBeacon(target, body);
  navigator.sendBeacon(target, new Blob([body], { type: 'application/x-www-form-urlencoded' }));
  for (const enctype of ['text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded'])
    for (const sandbox of [null, 'allow-forms']) {
      const frame = document.createElement('iframe');
      if (sandbox !== null) frame.setAttribute('sandbox', sandbox);
      frame.name = `f${Math.random()}`;
      document.body.append(frame);
      const form = document.createElement('form');
      Object.assign(form, { method: 'POST', action: target, enctype, target: frame.name });
      form.innerHTML = `<input name='{"a":1,"b":"' value='"}'>`;
      document.body.append(form);
      form.submit();
      const inner = document.createElement('iframe');
      inner.setAttribute('sandbox', 'allow-forms allow-scripts');
      inner.srcdoc = `${form.outerHTML.replace('<form', `<form method=POST action="${target}" enctype="${enctype}"`)}<script>document.forms[0].submit()</script>`;
      document.body.append(inner);
    }
  for (const path of ['/metrics', '/readyz']) {
    await get(`${other}${path}`, { mode: 'cors' });
    await get(`${other}${path}`, { mode: 'no-cors' });
    await get(`${other}${path}`, { mode: 'same-origin' });
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
  for (const frame of document.querySelectorAll('iframe'))
    read.push((frame.contentDocument?.body?.textContent ?? '').trim());
  return read;
};
