/* A guard for the memory that TVM hands out on a CPU: no accessible memory follows the last requested byte.
 *
 * Loaded with LD_PRELOAD. Between `relax_lint_guard_start` and `relax_lint_guard_stop` every block that TVM's runtime
 * obtains from posix_memalign gets pages of its own, ends at an inaccessible page, begins after another one,
 * and is never handed out again. An access after or before a block, or to a block that was freed, kills the
 * process with a line that says which. Between the block's last byte and the page stand up to `alignment - 1` bytes of
 * a pattern, and some in front: what is written there is found when the block is given back or looked at. New blocks
 * are filled with a byte that the caller chooses, so that what is read before it is written differs between two runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define ARENA ((size_t)2 << 30)
#define PAGE ((size_t)4096)
#define PATTERN 0xA5

/* One entry per page of the arena; `data` is set for the first page of a block. */
typedef struct {
  unsigned char *data;
  size_t size;
  size_t pages;
  int live;
} Block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block blocks[ARENA / PAGE];
static unsigned char *arena;
static size_t used, live_blocks;
static int guarding, fill_byte, left_out;
static int64_t damaged_size = -1, damaged_at;
static struct sigaction before;

static int inside(const void *pointer) {
  return arena && (unsigned char *)pointer >= arena && (unsigned char *)pointer < arena + ARENA;
}

static size_t page_of(const void *pointer) { return (size_t)((unsigned char *)pointer - arena) / PAGE; }

/* The block that an address is in, or the nearest one: two pages lie between blocks, one for each neighbour. */
static Block *block_near(const void *pointer) {
  size_t page = page_of(pointer);
  if (page + 1 < ARENA / PAGE && blocks[page + 1].data) return &blocks[page + 1];
  for (++page; page-- > 0;)
    if (blocks[page].data) return &blocks[page];
  return NULL;
}

static void look_at(const Block *block) {
  unsigned char *end = block->data + block->size;
  unsigned char *first = arena + page_of(block->data) * PAGE;
  unsigned char *last = first + block->pages * PAGE;
  if (damaged_size >= 0) return;
  for (unsigned char *byte = end; byte < last; ++byte)
    if (*byte != PATTERN) {
      damaged_size = (int64_t)block->size;
      damaged_at = byte - block->data;
      return;
    }
  for (unsigned char *byte = block->data; byte-- > first;)
    if (*byte != PATTERN) {
      damaged_size = (int64_t)block->size;
      damaged_at = byte - block->data;
      return;
    }
}

/* Called with the lock held; NULL where the arena has no room left. */
static void *guarded(size_t alignment, size_t size) {
  size_t room = size ? (size + alignment - 1) / alignment * alignment : alignment;
  size_t pages = (room + PAGE - 1) / PAGE;
  unsigned char *first = arena + used + PAGE;
  if (alignment > PAGE || size > ARENA || used + (pages + 3) * PAGE > ARENA) return NULL;
  if (mprotect(first, pages * PAGE, PROT_READ | PROT_WRITE)) return NULL;
  unsigned char *data = first + pages * PAGE - room;
  Block block = {data, size, pages, 1};
  memset(first, PATTERN, pages * PAGE);
  memset(data, fill_byte, size);
  blocks[page_of(first)] = block;
  used += (pages + 2) * PAGE;
  ++live_blocks;
  return data;
}

static int is_of_tvm(void *caller) {
  Dl_info info;
  return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libtvm");
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  static int (*next)(void **, size_t, size_t);
  if (!next) next = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
  if (guarding && is_of_tvm(__builtin_return_address(0))) {
    pthread_mutex_lock(&lock);
    void *block = guarded(alignment, size);
    left_out |= block == NULL;
    pthread_mutex_unlock(&lock);
    if (block) {
      *result = block;
      return 0;
    }
  }
  return next(result, alignment, size);
}

void free(void *pointer) {
  static void (*next)(void *);
  if (!inside(pointer)) {
    if (!next) next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    next(pointer);
    return;
  }
  pthread_mutex_lock(&lock);
  Block *block = &blocks[page_of(pointer)];
  if (block->data == pointer && block->live) {
    unsigned char *first = arena + page_of(block->data) * PAGE;
    look_at(block);
    block->live = 0;
    --live_blocks;
    madvise(first, block->pages * PAGE, MADV_DONTNEED);
    mprotect(first, block->pages * PAGE, PROT_NONE);
  }
  pthread_mutex_unlock(&lock);
}

static const char *access_of(void *context) {
#if defined(__x86_64__)
  return ((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read";
#else
  (void)context;
  return "access";
#endif
}

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number;
  if (inside(info->si_addr)) {
    char line[160];
    Block *block = block_near(info->si_addr);
    unsigned char *address = info->si_addr;
    if (block) {
      int length = snprintf(line, sizeof line, "relax-lint guard: %s at byte %lld of %zu%s\n", access_of(context),
                            (long long)(address - block->data), block->size, block->live ? "" : " given back");
      if (write(2, line, (size_t)length) < 0) _exit(1);
    }
  }
  /* The access is made again, and meets whoever handled it before. */
  sigaction(SIGSEGV, &before, NULL);
}

/* 1 where it guards from now on, 0 where there is no room for it. */
int relax_lint_guard_start(int fill) {
  struct sigaction action;
  if (guarding) return 1;
  if (!arena) {
    void *room = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return 0;
    arena = room;
  }
  pthread_mutex_lock(&lock);
  if (!live_blocks) {
    memset(blocks, 0, used / PAGE * sizeof(Block));
    used = 0;
  }
  fill_byte = fill;
  left_out = 0;
  damaged_size = -1;
  pthread_mutex_unlock(&lock);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  guarding = 1;
  return 1;
}

/* Looks at every block that is still there. */
void relax_lint_guard_stop(void) {
  if (!guarding) return;
  guarding = 0;
  sigaction(SIGSEGV, &before, NULL);
  pthread_mutex_lock(&lock);
  for (size_t page = 0; page <= used / PAGE && page < ARENA / PAGE; ++page)
    if (blocks[page].data && blocks[page].live) look_at(&blocks[page]);
  pthread_mutex_unlock(&lock);
}

/* Bytes of the first block of which the surroundings were written, -1 where there is none; which byte it was,
 * counted from the block's first one; whether a block was too large to be guarded. */
int64_t relax_lint_guard_damaged_size(void) { return damaged_size; }
int64_t relax_lint_guard_damaged_at(void) { return damaged_at; }
int relax_lint_guard_left_out(void) { return left_out; }
