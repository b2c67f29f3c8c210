/* global FormData, SimpleWebAuthnBrowser, URLSearchParams, clearTimeout, confirm, document, fetch, history, location, navigator, setTimeout */

const byId = (id) => document.getElementById(id);
const { startRegistration, startAuthentication, browserSupportsWebAuthn } = SimpleWebAuthnBrowser;

/** The secret of the link that led here. It stays in this page: fragments are never sent. */
let link;

/** Asks the API; gives the answer, or throws its sentence. */
async function call(method, path, body) {
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(`/api${path}`, { method, headers, body: JSON.stringify(body) });
  if (response.status === 204) return undefined;
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.error ?? `The server answered ${response.status}.`), {
    status: response.status,
  });
}

/** What a browser's own errors mean to the person before it. */
function explain(error) {
  switch (error.name) {
    case 'NotAllowedError':
    case 'AbortError':
      return 'Nothing was done: the passkey request was closed, or took too long. Try again.';
    case 'InvalidStateError':
      return 'That device has a passkey for this account already.';
    case 'SecurityError':
      return `Passkeys hold for names, not for this address. Open ${document.body.dataset.origin} instead.`;
    case 'ConstraintError':
    case 'NotSupportedError':
      return "That device can't keep a passkey of the kind that is needed. Try another.";
    case 'TypeError':
      return 'The server could not be reached. Try again.';
    default:
      return error.message;
  }
}

function say(text) {
  byId('problem').textContent = '';
  byId('status').textContent = text;
}

/** Does what a button or a form is for, once at a time, and says why when it fails. */
async function attempt(button, work) {
  if (button.ariaBusy === 'true') return;
  button.ariaBusy = 'true';
  say('');
  try {
    await work();
  } catch (error) {
    byId('problem').textContent = explain(error);
    // A session that ended meanwhile.
    if (error.status === 401) await show();
  } finally {
    button.ariaBusy = 'false';
  }
}

function onSubmit(form, work) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(form.querySelector('button'), () => work(Object.fromEntries(new FormData(form)), form));
  });
}

const onClick = (id, work) => byId(id).addEventListener('click', (event) => void attempt(event.currentTarget, work));

function showOnly(id) {
  for (const part of ['elsewhere', 'unsupported', 'join', 'enter', 'account']) byId(part).hidden = part !== id;
}

/** Finds out who is here, and shows what they can do. */
async function show() {
  for (const id of ['new-token', 'new-invitation']) byId(id).hidden = true;
  byId('who').textContent = 'Sign in';
  if (location.origin !== document.body.dataset.origin) {
    showOnly('elsewhere');
    return;
  }
  if (!browserSupportsWebAuthn()) {
    showOnly('unsupported');
    return;
  }
  const user = await call('GET', '/auth/session').catch((error) => {
    if (error.status === 401) return undefined;
    throw error;
  });
  if (user !== undefined) {
    await showAccount(user);
    if (link !== undefined) say('You are signed in already. To use the link that led you here, sign out first.');
  } else if (link !== undefined) showJoin();
  else await showEnter();
}

function showJoin() {
  byId('join-title').textContent = link.isSetup ? "Make the admin's account" : 'Make your account';
  const username = byId('username');
  if (link.username !== null) username.value = link.username;
  username.readOnly = link.username !== null;
  showOnly('join');
}

async function showEnter() {
  const { open } = await call('GET', '/auth/registration-status');
  byId('first-account').hidden = !open;
  byId('by-invitation').hidden = open;
  showOnly('enter');
}

async function showAccount({ username, displayName, isAdmin }) {
  byId('who').textContent = `Signed in as ${displayName} (${username})${isAdmin ? ', admin' : ''}`;
  byId('invitations-section').hidden = !isAdmin;
  await Promise.all([listTokens(), listPasskeys(), ...(isAdmin ? [listInvitations()] : [])]);
  showOnly('account');
}

const toDay = (time) => new Date(time).toLocaleDateString(undefined, { dateStyle: 'medium' });
const toTime = (time) => new Date(time).toLocaleTimeString(undefined, { timeStyle: 'short' });

/** Lists things, each with a line about it and a button that ends it. */
function list(id, things, { none, describe, verb, end }) {
  const items = things.map((thing) => {
    const item = document.createElement('li');
    const text = document.createElement('div');
    const [name, detail] = describe(thing);
    const small = document.createElement('span');
    small.textContent = detail;
    text.append(name, small);
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'danger';
    button.textContent = verb;
    button.ariaLabel = `${verb} ${name}`;
    button.addEventListener('click', () => {
      if (confirm(`${verb} "${name}"?`)) void attempt(button, () => end(thing));
    });
    item.append(text, button);
    return item;
  });
  if (items.length === 0) {
    const item = document.createElement('li');
    item.textContent = none;
    items.push(item);
  }
  byId(id).replaceChildren(...items);
}

async function listTokens() {
  list('tokens', await call('GET', '/tokens'), {
    none: 'No tokens.',
    describe: ({ label, scopes, expiresAt, lastUsedAt }) => [
      label,
      [
        scopes.includes('write') ? 'reads and changes' : 'reads',
        Date.parse(expiresAt) > Date.now() ? `holds until ${toDay(expiresAt)}` : 'expired',
        lastUsedAt === undefined ? 'never used' : `last used ${toDay(lastUsedAt)}`,
      ].join(' · '),
    ],
    verb: 'Revoke',
    async end({ id, label }) {
      await call('DELETE', `/tokens/${encodeURIComponent(id)}`);
      byId('new-token').hidden = true;
      await listTokens();
      say(`The token "${label}" no longer works.`);
    },
  });
}

async function listPasskeys() {
  list('passkeys', await call('GET', '/auth/credentials'), {
    none: 'No passkeys.',
    describe: ({ label, createdAt }) => [label, `since ${toDay(createdAt)}`],
    verb: 'Remove',
    async end({ id, label }) {
      await call('DELETE', `/auth/credentials/${encodeURIComponent(id)}`);
      await listPasskeys();
      say(`The passkey "${label}" no longer signs you in.`);
    },
  });
}

async function listInvitations() {
  list('invitations', await call('GET', '/admin/invites'), {
    none: 'No invitations are open.',
    describe: ({ username, displayName, expiresAt }) => [username, `${displayName} · until ${toTime(expiresAt)}`],
    verb: 'Revoke',
    async end({ id, username }) {
      await call('POST', `/admin/invites/${encodeURIComponent(id)}/revoke`);
      byId('new-invitation').hidden = true;
      await listInvitations();
      say(`The invitation of ${username} no longer works.`);
    },
  });
}

/** Shows a secret this one time. */
function reveal(boxId, fieldId, value) {
  byId(boxId).hidden = false;
  byId(fieldId).value = value;
  byId(fieldId).focus();
  byId(fieldId).select();
}

onSubmit(byId('join').querySelector('form'), async ({ username, displayName }) => {
  const begin = { username, displayName, inviteToken: link.secret };
  const optionsJSON = await call('POST', '/auth/register/begin', begin);
  const credential = await startRegistration({ optionsJSON });
  await call('POST', `/auth/register/finish?username=${encodeURIComponent(username)}`, credential);
  link = undefined;
  await show();
  say('Your account is made, and you are signed in.');
});

onClick('sign-in', async () => {
  const optionsJSON = await call('POST', '/auth/login/begin', {});
  const credential = await startAuthentication({ optionsJSON });
  await call('POST', '/auth/login/finish', credential);
  await show();
});

onSubmit(byId('token-form'), async ({ label, days, write }, form) => {
  // A minute less: this clock and the server's may differ, and 366 days are the most.
  const expiresAt = new Date(Date.now() + days * 86_400_000 - 60_000).toISOString();
  const scopes = write === undefined ? ['read'] : ['read', 'write'];
  const { token } = await call('POST', '/tokens', { label, expiresAt, scopes });
  form.reset();
  await listTokens();
  reveal('new-token', 'token-value', token);
});

onSubmit(byId('passkey-form'), async ({ label }, form) => {
  const optionsJSON = await call('POST', '/auth/credentials/begin');
  const credential = await startRegistration({ optionsJSON });
  await call('POST', `/auth/credentials/finish?label=${encodeURIComponent(label)}`, credential);
  form.reset();
  await listPasskeys();
  say(`The passkey "${label}" signs you in from now on.`);
});

onSubmit(byId('invitation-form'), async ({ username, displayName }, form) => {
  const { token, username: invited } = await call('POST', '/admin/invites', { username, displayName });
  form.reset();
  await listInvitations();
  const fragment = new URLSearchParams({ invite: token, username: invited });
  reveal('new-invitation', 'invitation-link', `${location.origin}/sign-in#${fragment}`);
});

onClick('sign-out', async () => {
  await call('POST', '/auth/logout');
  await show();
  say('You are signed out.');
});

onClick('sign-out-everywhere', async () => {
  if (!confirm('Sign out on every device? Tokens go on working.')) return;
  await call('POST', '/auth/logout-everywhere');
  await show();
  say('You are signed out on every device.');
});

for (const button of document.querySelectorAll('[data-copy]')) {
  let forgotten;
  button.addEventListener('click', () => {
    void attempt(button, async () => {
      await navigator.clipboard.writeText(byId(button.dataset.copy).value);
      button.textContent = 'Copied';
      clearTimeout(forgotten);
      forgotten = setTimeout(() => (button.textContent = 'Copy'), 2_000);
    });
  });
}

/** Takes the secret out of the address bar, where it would be seen, and kept in the history. */
function readLink() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [setup, invite] = [fragment.get('setup'), fragment.get('invite')];
  if (setup === null && invite === null) return;
  link = { secret: setup ?? invite, isSetup: setup !== null, username: fragment.get('username') };
  // Left in place where passkeys hold elsewhere, so that the link leads on.
  if (location.origin !== document.body.dataset.origin) {
    document.querySelector('.there').href = document.body.dataset.origin + location.pathname + location.hash;
  } else {
    history.replaceState(null, '', location.pathname);
  }
}

function start() {
  readLink();
  void attempt(document.body, show);
}

globalThis.addEventListener('hashchange', () => {
  if (location.hash !== '') start();
});
start();
