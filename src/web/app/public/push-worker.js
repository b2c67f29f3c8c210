// The service worker of web push. It shows notifications, and does not handle requests of pages.

globalThis.addEventListener('push', (event) => {
  const { id, title, body, url } = event.data.json();
  // A repeated message has the same tag, so it replaces the first one.
  event.waitUntil(globalThis.registration.showNotification(title, { body, tag: id, data: { url } }));
});

globalThis.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(showPage(event.notification.data.url));
});

async function showPage(url) {
  const open = await globalThis.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = open.find((client) => client.url === url);
  await (page === undefined ? globalThis.clients.openWindow(url) : page.focus());
}
