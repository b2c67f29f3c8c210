/* global SwaggerUIBundle, URLSearchParams, document, localStorage, location, matchMedia */

/** The theme that was chosen in the settings of this browser; else the system's, also when it changes. */
function followTheme() {
  const chosen = localStorage.getItem('trellis-theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const show = () => {
    const isDark = chosen ? chosen === 'dark' : system.matches;
    document.documentElement.classList.toggle('dark-mode', isDark);
    document.documentElement.classList.toggle('light-mode', !isDark);
  };
  system.addEventListener('change', show);
  show();
}

followTheme();

const CONTRACTS = [
  { service: 'dashboard', name: 'Dashboard', url: '/api/openapi.json' },
  { service: 'secrets', name: 'Secrets', url: '/secrets/openapi.json' },
];

const running = document.body.dataset.services.split(' ');
const offered = CONTRACTS.filter(({ service }) => running.includes(service));
const asked = new URLSearchParams(location.search).get('contract');
const shown = offered.find(({ service }) => service === asked) ?? offered[0];

const links = offered.map(({ service, name }) => {
  const link = document.createElement('a');
  link.href = `/docs?contract=${service}`;
  link.textContent = name;
  if (service === shown?.service) link.ariaCurrent = 'page';
  return link;
});
document.getElementById('contracts').append(...links);

if (shown === undefined) {
  document.getElementById('reference').textContent = 'This server runs no service that has a contract.';
} else {
  SwaggerUIBundle({
    dom_id: '#reference',
    url: shown.url,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    deepLinking: true,
    // What checks contracts for the tool's makers, elsewhere.
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
  });
}
