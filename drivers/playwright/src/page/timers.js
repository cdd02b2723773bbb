// Knows which timers of a document are still to come. Whoever asks, by an event of this name that is
// sent to the document, has it cancelled when none is due within the time that is asked about.
//
// It stands in the page's own world, before the page's scripts: the functions stay the browser's own, looked
// at as they are called.
() => {
  const ASKED = 'packtrain-timers';
  const MANY = 2_000;
  /** A timer whose function is a text may come so many milliseconds late. */
  const LATE = 50;
  /** When each timer that has neither come nor been taken back is due, and whether it says itself when it comes. */
  const due = new Map();
  const now = performance.now.bind(performance);
  const tidy = () => { for (const [id, { at, isTold }] of due) if (!isTold && at < now() - LATE) due.delete(id); };
  let many = MANY;
  const wrap = (on, name, apply) => {
    if (typeof on?.[name] === 'function') on[name] = new Proxy(on[name], { apply });
  };
  /** Calls what is to come later, and takes note when it comes. */
  const later = (name, at) => wrap(window, name, (target, self, [then, ms, ...more]) => {
    if (due.size > many) {
      tidy();
      many = Math.max(MANY, 2 * due.size);
    }
    const isTold = typeof then === 'function';
    const tells = isTold ? function(...args) { due.delete(key); return Reflect.apply(then, this, args); } : then;
    const id = Reflect.apply(target, self, [tells, ms, ...more]);
    const key = name === 'setTimeout' ? id : name + id;
    due.set(key, { at: at(ms), isTold });
    return id;
  });
  later('setTimeout', ms => now() + Math.max(Number(ms) || 0, 0));
  later('requestIdleCallback', () => 0);
  const seen = (on, name, note) => wrap(on, name, (target, self, args) => {
    const result = Reflect.apply(target, self, args);
    note(args, result);
    return result;
  });
  // They come again and again.
  seen(window, 'setInterval', (_, id) => due.set(id, { at: 0, isTold: true }));
  for (const name of ['clearTimeout', 'clearInterval']) seen(window, name, ([id]) => due.delete(Number(id)));
  seen(window, 'cancelIdleCallback', ([id]) => due.delete(`requestIdleCallback${id}`));
  // What else comes later, and tells nobody when.
  let schedules = false;
  seen(window.scheduler, 'postTask', args => { schedules ||= Boolean(args[1]?.delay); });
  // Not of the window's own, which a page in a sandbox may not even look at.
  const [databases, caches] = [window.IDBFactory?.prototype, window.CacheStorage?.prototype];
  const others = [[databases, 'open'], [caches, 'open'], [caches, 'match'], [window.AbortSignal, 'timeout']];
  for (const [on, name] of others) seen(on, name, () => { schedules = true; });
  document.addEventListener(ASKED, event => {
    tidy();
    const limit = now() + 60;
    const comes = [...due.values()].some(({ at }) => at <= limit);
    if (!comes && !schedules) event.preventDefault();
  });
}
