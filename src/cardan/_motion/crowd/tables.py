"""The tables of a crowd: what a step reads and writes, under one name each.

Rows of all worlds are in one table. Trees are ordered by kind, then by world; nodes, blocks of vectors and shapes
follow their trees. Lists whose length a step finds out have room for so many rows, and a count.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, I32, I64, INT, LANES, REAL, Record


class Crowd(Record):
    # --- counts ---
    worlds = INT
    trees = INT
    kinds = INT
    nodes = INT  # the row behind the last is the world
    shapes = INT
    grounds = INT
    shape_kinds = INT
    numbers_q = INT  # of q of all worlds, and of v
    numbers_v = INT
    # --- the state, as users have it, and what drives it ---
    q = F64[:]
    v = F64[:]
    effort = F64[:]
    a = F64[:]
    residual = F64[:]  # of each world
    sound = I32[:]  # of each world: 0 if anything in it is no number
    # --- trees by kind: which number of the state each of their numbers is, and the numbers ---
    q_source = I32[:]
    v_source = I32[:]
    q_rows = F64[:]
    v_rows = F64[:]
    effort_rows = F64[:]
    q_after = F64[:]
    v_after = F64[:]
    start = I64[:]  # programs of each kind
    finish = I64[:]
    kind_rows = I32[:]
    tree_world = I32[:]
    tree_blocks = I32[:]  # how many blocks of six velocities
    tree_first = I32[:]  # its first block among vectors
    tree_mass = I32[:]  # its first block among mass matrices
    tree_v = I32[:]  # its first number among v_rows
    tree_nv = I32[:]
    tree_sound = F64[:]
    mass = LANES[:, 6]
    force = LANES[:]
    free = LANES[:]
    change = LANES[:]  # the accelerations that are found
    # --- nodes ---
    node = F64[:, 24]
    node_tree = I32[:]
    node_jacobian = I32[:]  # the first block of its Jacobian; -1 for one that is the identity
    jacobian = LANES[:, 6]
    # --- shapes ---
    shape_node = I32[:]
    shape_order = I32[:]  # of two shapes the later one comes first in a pair
    shape_kind = I32[:]
    shape_world = I32[:]
    shape_local = F64[:, 12]
    shape_centre = F64[:, 3]
    shape_radius = F64[:]  # of the ball about it
    shape_margin = F64[:]
    shape_extent = F64[:]
    shape_group = I64[:]
    shape_mask = I64[:]
    shape_family = I32[:]
    shape_surface = I32[:]
    shape_weight = F64[:]  # the inverse mass that is felt there
    shape_sizes = F64[:]
    shape_first = I32[:]  # its first size
    shape_pose = F64[:, 12]
    ball = F64[:, 3]
    further = F64[:]  # how far beyond it contact is looked for in this step
    reach = F64[:]  # of the ball with that; -1 for what has no end
    ground = I32[:]  # numbers of shapes
    ground_flat = I32[:]  # of each shape: whether it is a half space
    surface_count = INT
    surfaces = F64[:, 6]  # of each two surfaces
    apart = I64[:]  # pairs of shapes of one world that never touch, sorted
    apart_count = INT
    # --- grids ---
    level = I32[:]
    used = I32[:]
    width = F64[:]
    cell = I64[:, 3]
    head = I32[:]
    following = I32[:]
    hash_mask = INT
    near = I32[:, 2]
    near_most = INT
    keys = I64[:]
    spare = I64[:]
    # --- kinds of pairs ---
    pair_kind = I32[:, 2]  # of two kinds of shapes that move, and with the second one fixed; -1 for none
    pair_program = I64[:]
    pair_points = I32[:]  # candidates of a pair
    pair_sizes = I32[:, 2]
    pair_fixed = I32[:]
    X_a = F64[:, 12]
    X_b = F64[:, 12]
    local = F64[:, 12]
    size_a = F64[:]
    size_b = F64[:]
    w = F64[:, 3]
    centre = F64[:, 3]
    gap = F64[:]
    point = F64[:]
    normal = F64[:]
    turning = F64[:]
    # --- patches as they are found: contacts of two shapes ---
    patches = INT
    patch_most = INT
    found_shapes = I32[:, 2]
    found_first = I32[:]
    found_count = I32[:]
    contacts = INT
    contact_most = INT
    found_gap = F64[:]
    found_point = F64[:, 3]
    found_normal = F64[:, 3]
    found_turning = F64[:, 3]
    # --- islands ---
    parent = I32[:]
    island_of = I32[:]  # of each tree; -1 of one that touches nothing
    islands = INT
    island_trees = I32[:]  # where its trees begin among `members`
    members = I32[:]
    member_of = I32[:]  # the number of a tree within its island
    island_patches = I32[:]
    patch_order = I32[:]
    island_vector = I32[:]  # where its vectors, columns, blocks and triples begin
    island_block = I32[:]
    island_triple = I32[:]
    island_going = I32[:]
    island_count = I32[:]  # iterations
    island_residual = F64[:]
    tree_column = I32[:]
    # --- patterns of islands ---
    bits = I64[:]
    order = I32[:]
    degree = I32[:]
    sizes = I32[:]
    place = I32[:]
    columns = I32[:]
    later = I32[:]
    starts = I32[:]
    rows = I32[:]
    ends = I32[:]
    triples = I32[:, 3]
    block_most = INT
    triple_most = INT
    L = LANES[:, 6]
    x = LANES[:]
    # --- patches by island ---
    patch_first = I32[:]
    patch_count = I32[:]
    patch_trees = I32[:, 2]
    patch_sides = I32[:, 2]  # the first block of each side's G; -1 for the identity, -2 for none
    G = LANES[:, 6]
    GT = LANES[:, 6]
    side_most = INT
    Z = LANES[:, 6]
    T = LANES[:, 6]
    wrench = LANES[:]
    # --- contacts by island ---
    row_a = F64[:, 24]
    row_b = F64[:, 24]
    row_gap = F64[:]
    row_point = F64[:, 3]
    row_normal = F64[:, 3]
    row_turning = F64[:, 3]
    row_centres = F64[:, 6]
    row_surface = F64[:, 6]
    row_weight = F64[:]
    law = F64[:, 13]
    ahead = F64[:]
    test = F64[:]
    answer = F64[:, 27]
    row_change = F64[:, 6]
    after = F64[:]
    impulse = F64[:]
    error = F64[:]
    impulse_size = INT
    begin = INT  # programs
    response = INT
    reaction = INT
    dt = REAL
    tolerance = REAL
    most = INT
    # --- why a step was not made: the list that is too short ---
    lacking = INT
    wanted = INT  # the kind of pair whose program is not there yet
