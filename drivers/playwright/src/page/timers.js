// Knows which timers of a document are still to come. Whoever asks, by an event of this name that is
// sent to the document, has it cancelled when none is due within the time that is asked about.
//
// It stands in the page's own world, before the page's scripts: the functions stay the browser's own, looked
// at as they are called.
() => {
  const ASKED = 'packtrain-timers';
  const MOST = 2_000;
  /** A timer whose function is a text may come so many milliseconds late. */
  const LATE = 50;
  /** When each timer that has neither come nor been taken back is due; for ever, where it comes again and again. */
  const due = new Map();
  const now = performance.now.bind(performance);
  /** Timers that say themselves when they have come. */
  const told = new Set();
  const tidy = () => { for (const [id, at] of due) if (!told.has(id) && at < now() - LATE) due.delete(id); };
  const watch = (name, seen) => {
    const native = window[name];
    if (typeof native !== 'function') return;
    window[name] = new Proxy(native, {
      apply: (target, self, args) => {
        const result = Reflect.apply(target, self, args);
        seen(args, result);
        return result;
      },
    });
  };
  const { setTimeout } = window;
  window.setTimeout = new Proxy(setTimeout, {
    apply: (target, self, [then, ms, ...more]) => {
      if (due.size > MOST) tidy();
      const isTold = typeof then === 'function';
      const tells = isTold ? function(...args) { due.delete(id); told.delete(id); return Reflect.apply(then, this, args); } : then;
      const id = Reflect.apply(target, self, [tells, ms, ...more]);
      due.set(id, now() + Math.max(Number(ms) || 0, 0));
      if (isTold) told.add(id);
      return id;
    },
  });
  watch('setInterval', (_, id) => due.set(id, Infinity));
  for (const name of ['clearTimeout', 'clearInterval']) watch(name, ([id]) => { due.delete(Number(id)); told.delete(Number(id)); });
  // Its tasks may wait, too, and tell nobody for how long.
  let schedules = false;
  const { scheduler } = window;
  if (scheduler) {
    const { postTask } = scheduler;
    scheduler.postTask = new Proxy(postTask, {
      apply: (target, self, args) => { schedules ||= Boolean(args[1]?.delay); return Reflect.apply(target, self, args); },
    });
  }
  document.addEventListener(ASKED, event => {
    tidy();
    const limit = now() + 60;
    const comes = [...due.values()].some(at => at === Infinity || at <= limit);
    if (!comes && !schedules) event.preventDefault();
  });
}
